package web

import (
	"net/url"
	"strconv"

	"github.com/segue-project/segue"
)

// perPage is how many chains a page lists.
const perPage = 50

// listData is what the list of chains shows.
type listData struct {
	Chains   []segue.Chain
	Counts   map[segue.ChainState]int
	All      int
	Filters  []filter
	User     string // that an operator asks for
	Operator bool
	First    string // address of the first page, "" on it
	Next     string // of the next one, "" on the last
}

// filter is a link to the chains of a state.
type filter struct {
	Name, Path string
	Chains     int
	Current    bool
}

func (w *Web) chainList(v visit) error {
	q, err := w.chainQuery(v)
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	data := listData{User: v.r.URL.Query().Get("user"), Operator: v.viewer.Operator}
	if data.Counts, err = w.services.Chains.Count(ctx, q.User); err != nil {
		return err
	}
	q.Limit++ // whether there is a next page
	if data.Chains, err = w.services.Chains.Chains(ctx, q); err != nil {
		return err
	}
	data.filters(q)
	if len(data.Chains) > perPage {
		data.Chains = data.Chains[:perPage]
		last := data.Chains[perPage-1]
		data.Next = listPath(q.State, data.User, url.Values{"before": {strconv.FormatInt(int64(last.Created), 10)}, "id": {last.ID}})
	}
	if q.BeforeID != "" {
		data.First = listPath(q.State, data.User, url.Values{})
	}
	return v.show(frame{Page: "chains", Title: "Chains", Section: "/chains", Data: data})
}

// chainQuery reads what the address asks for. A user sees own chains.
func (w *Web) chainQuery(v visit) (ChainQuery, error) {
	values := v.r.URL.Query()
	q := ChainQuery{User: v.whose(), Limit: perPage, BeforeID: values.Get("id")}
	if v.viewer.Operator {
		q.User = values.Get("user")
	}
	if name := values.Get("state"); name != "" {
		state, err := segue.ParseChainState(name)
		if err != nil {
			return q, segue.Errorf(segue.Invalid, "%w", err)
		}
		q.State = &state
	}
	if q.BeforeID != "" {
		at, err := strconv.ParseInt(values.Get("before"), 10, 64)
		if err != nil {
			return q, segue.Errorf(segue.Invalid, "before is %q, want what a link of this page has", values.Get("before"))
		}
		q.Before = segue.Time(at)
	}
	return q, nil
}

func (d *listData) filters(q ChainQuery) {
	for _, n := range d.Counts {
		d.All += n
	}
	d.Filters = []filter{{Name: "all", Path: listPath(nil, d.User, url.Values{}), Chains: d.All, Current: q.State == nil}}
	for _, state := range (overviewData{}).States() {
		d.Filters = append(d.Filters, filter{
			Name: state.String(), Path: listPath(&state, d.User, url.Values{}), Chains: d.Counts[state], Current: q.State != nil && *q.State == state,
		})
	}
}

// listPath returns the address of a list of chains.
func listPath(state *segue.ChainState, user string, more url.Values) string {
	if state != nil {
		more.Set("state", state.String())
	}
	if user != "" {
		more.Set("user", user)
	}
	if len(more) == 0 {
		return "/chains"
	}
	return "/chains?" + more.Encode()
}
