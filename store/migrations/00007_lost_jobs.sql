-- A scheduler can take a job and lose it while it waits: slurmctld, when it is
-- killed before it has written its state. Nothing of it ever ran, so that it was an
-- attempt at its link, as one that made no job is, and another one follows. A link
-- that has run is never lost, not even while it waits to run again.

-- only sqlite
DROP TRIGGER link_states;

CREATE TRIGGER link_states BEFORE UPDATE OF state ON links
WHEN NEW.state <> OLD.state AND NOT (
    OLD.state = 'submitting'
    OR (OLD.state = 'queued' AND NEW.state IN ('running', 'ended'))
    OR (OLD.state = 'queued' AND NEW.state = 'lost' AND OLD.restarts = 0)
    OR (OLD.state = 'running' AND NEW.state IN ('queued', 'ended')))
BEGIN
    SELECT RAISE(ABORT, 'a link does not go back');
END;
-- end

-- only postgres
DROP TRIGGER link_states ON links;

CREATE TRIGGER link_states BEFORE UPDATE ON links FOR EACH ROW
WHEN (NEW.state <> OLD.state AND NOT (
    OLD.state = 'submitting'
    OR (OLD.state = 'queued' AND NEW.state IN ('running', 'ended'))
    OR (OLD.state = 'queued' AND NEW.state = 'lost' AND OLD.restarts = 0)
    OR (OLD.state = 'running' AND NEW.state IN ('queued', 'ended'))))
EXECUTE FUNCTION refuse_state();
-- end
