// What the browser does: it visits the dashboards that browser_test.go started,
// says what it found, and ends with status 1 if something is not as it should be.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const given = JSON.parse(process.argv[2]);
const { full, empty } = given;
const wide = { width: 1180, height: 860 };
const phone = { width: 390, height: 800 };

const browser = await chromium.launch({
  executablePath: given.chromium,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failures = 0;

function check(ok, what) {
  if (!ok) failures++;
  console.log(`${ok ? "ok  " : "FAIL"} ${what}`);
}

// person opens a browser of its own, and notes what the pages complain about.
async function person(site, options = {}) {
  const context = await browser.newContext({ viewport: wide, baseURL: site.url, ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.elsewhere = [];
  page.on("pageerror", (e) => page.complaints.push(String(e)));
  page.on("console", (m) => {
    // A status that a visit provokes is reported by the browser itself.
    if (m.type() === "error" && !m.text().startsWith("Failed to load resource")) page.complaints.push(m.text());
  });
  page.on("request", (r) => {
    if (!r.url().startsWith(site.url)) page.elsewhere.push(r.url());
  });
  return page;
}

async function login(page, token) {
  await page.goto("/login");
  await page.fill("#token", token);
  await Promise.all([page.waitForNavigation(), page.click("button[type=submit]")]);
}

const main = (page) => page.textContent("main");

async function picture(page, name, { docs = false } = {}) {
  await page.screenshot({ path: `${given.out}/${name}.png`, fullPage: true });
  if (docs) await detail(page, name);
}

// detail takes a picture for the documents: of the top of the page, or of a part.
async function detail(page, name, part) {
  if (!given.docs) return;
  const path = `${given.docs}/${name}.png`;
  if (part) await page.locator(part).first().screenshot({ path });
  else await page.screenshot({ path, clip: { x: 0, y: 0, width: wide.width, height: 600 } });
}

// accessible wants that axe finds nothing on a page, with all open that can be opened,
// against WCAG 2.2 A and AA, nor against what is good practice; in the dark it looks at
// what depends on colours. The driver gives the script to the page, past its policy.
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rules = {
  light: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
  dark: { type: "rule", values: ["color-contrast", "link-in-text-block"] },
};

async function accessible(page, path, colors) {
  const began = Date.now();
  await page.goto(path);
  await page.$$eval("details", (all) => all.forEach((d) => (d.open = true)));
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate((runOnly) => axe.run({ resultTypes: ["violations"], runOnly }), rules[colors]);
  const found = violations.map((v) => `; ${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
  check(violations.length === 0 && passes.length > 0, `${new URL(page.url()).host} ${path}, ${colors}: ${passes.length} rules are kept, in ${Date.now() - began} ms${found.join("")}`);
}

async function section(name, visit) {
  console.log(`-- ${name}`);
  try {
    await visit();
  } catch (e) {
    check(false, `${name}: ${e.message.split("\n")[0]}`);
  }
}

await section("login", async () => {
  const page = await person(full);
  await page.goto("/chains?state=paused");
  check(page.url().includes("/login?next="), "who is not known is sent to the login");
  await picture(page, "login", { docs: true });
  await login(page, "segue_nobody");
  check((await main(page)).includes("Nobody knows this token"), "a wrong token is refused");
  await page.goto("/chains?state=paused");
  await page.fill("#token", full.tokens.ada);
  await Promise.all([page.waitForURL("**/chains?state=paused"), page.keyboard.press("Enter")]);
  check(page.url().endsWith("/chains?state=paused"), "after the login comes the page that was asked for");
  const [cookie] = await page.context().cookies();
  check(cookie.httpOnly && cookie.sameSite === "Strict" && !cookie.value.includes(full.tokens.ada), "the cookie is sealed, HttpOnly and SameSite=Strict");
  await page.click("text=Log out");
  await page.goto("/");
  check(page.url().includes("/login"), "after the logout nothing is shown");
});

const pages = [
  ["/", "overview", "How long a submission would wait"],
  ["/chains", "chains", "Chains, the latest first"],
  ["/chains/llama70b", "chain", "Submitting at"],
  ["/forecasts", "forecasts", "Coverage by month"],
  ["/models", "models", "The champion is"],
  ["/history", "history", "Days without jobs"],
  ["/trainings", "trainings", "The latest trainings"],
];

await section("every page, light, dark, on a phone and without a script", async () => {
  const waiting = await person(full);
  await login(waiting, full.tokens.operator);
  await waiting.waitForSelector(".outlooks svg", { timeout: 60000 });
  check(true, "the forecast of the next day comes by a live update");
  // A training is called after when it began: the list leads to it.
  await waiting.goto("/trainings");
  await Promise.all([waiting.waitForURL("**/trainings/*"), waiting.click("tbody tr:nth-child(2) th a")]);
  const training = [new URL(waiting.url()).pathname, "training", "+ segue-trainer promote"];
  for (const [options, suffix] of [
    [{ colorScheme: "light" }, ""],
    [{ colorScheme: "dark" }, "-dark"],
    [{ viewport: phone }, "-phone"],
    [{ javaScriptEnabled: false }, "-plain"],
  ]) {
    const page = await person(full, options);
    await login(page, full.tokens.operator);
    for (const [path, name, text] of [...pages, training]) {
      const began = Date.now();
      const answer = await page.goto(path);
      const body = await answer.body();
      check(answer.status() === 200 && (await main(page)).includes(text), `${name}${suffix}: ${body.length} bytes in ${Date.now() - began} ms`);
      check(body.length < 100_000, `${name}${suffix} is under 100 kB`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(overflow <= 0, `${name}${suffix} is no wider than the window (${overflow})`);
      await picture(page, name + suffix, { docs: suffix === "" || (name === "overview" && suffix === "-dark") });
      if (suffix === "" && name === "overview") await detail(page, "waits", ".outlooks");
      if (suffix === "" && name === "chain") {
        await page.locator(".decision summary").first().click();
        await detail(page, "decision", ".decision");
      }
    }
    check(page.complaints.length === 0, `no complaints${suffix}: ${page.complaints.join("; ")}`);
    check(page.elsewhere.length === 0, `nothing is loaded from elsewhere${suffix}: ${page.elsewhere.join("; ")}`);
  }
});

await section("the keyboard", async () => {
  const page = await person(full);
  await login(page, full.tokens.operator);
  await page.goto("/");
  const order = [];
  for (let i = 0; i < 10; i++) {
    await page.keyboard.press("Tab");
    order.push(await page.evaluate(() => document.activeElement.textContent.trim()));
  }
  const want = ["Skip to the content", "Segue", "Overview", "Chains", "Forecasts", "Models", "History", "Trainings", "Log out", "Pause updates"];
  check(JSON.stringify(order) === JSON.stringify(want), `the order of the tab key: ${order.join(", ")}`);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check(outline === "solid", "the focus is seen");
  await page.goto("/");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  check((await page.evaluate(() => document.activeElement.id)) === "main", "the first link skips to the content");
  check((await page.getAttribute("nav a[aria-current]", "href")) === "/", "the navigation says where one is");
});

await section("nobody is kept out, in light and dark", async () => {
  const others = ["/models?a=2026-01&b=2026-03", "/models/promote?id=2026-03", "/chains/serve01/stop", "/no/such/page"];
  const visit = async (colorScheme) => {
    const stranger = await person(full, { colorScheme });
    await accessible(stranger, "/login", colorScheme);
    for (const [site, paths] of [
      [empty, pages.map(([path]) => path).filter((path) => path !== "/chains/llama70b")],
      [full, [...pages.map(([path]) => path), ...others]],
    ]) {
      const page = await person(site, { colorScheme });
      await login(page, site.tokens.operator);
      for (const path of paths) await accessible(page, path, colorScheme);
      if (site !== full) continue;
      await page.goto("/trainings");
      await accessible(page, await page.getAttribute("tbody tr:nth-child(2) th a", "href"), colorScheme);
    }
  };
  await Promise.all(["light", "dark"].map(visit));
});

await section("a live update", async () => {
  const page = await person(full);
  await login(page, full.tokens.ada);
  await page.goto("/chains/serve01");
  await page.click("details summary");
  await page.focus("#do-stop");
  const answer = await fetch(`${full.url}/v1/chains/serve01/pause`, { method: "POST", headers: { Authorization: `Bearer ${full.tokens.ada}` } });
  check(answer.status === 200, "a program pauses the chain");
  await page.waitForFunction(() => document.querySelector(".lead .state").textContent === "paused", null, { timeout: 20000 });
  check(true, "the page shows it by itself");
  check(await page.evaluate(() => document.querySelector("details").open && document.activeElement.id === "do-stop"), "what was open is open, and the focus stays");
  await page.click("#live-pause");
  check((await page.getAttribute("#live-pause", "aria-pressed")) === "true", "updates can be paused");
});

await section("pause, resume and stop, without a script", async () => {
  const page = await person(full, { javaScriptEnabled: false });
  await login(page, full.tokens.ada);
  await page.goto("/chains/serve01");
  await page.click("#do-resume");
  await page.click("main button[type=submit]");
  check((await page.textContent(".lead .state")) === "active", "a user resumes an own chain");
  await page.click("#do-stop");
  await picture(page, "confirm", { docs: true });
  await page.click("text=Cancel");
  check((await page.textContent(".lead .state")) === "active", "who cancels has changed nothing");
});

await section("promote and roll back", async () => {
  const page = await person(full);
  await login(page, full.tokens.operator);
  await page.goto("/models");
  await page.click("[id='promote-2026-03']");
  await page.fill("#reason", "tried by the browser's test");
  await page.click("main button[type=submit]");
  check((await main(page)).includes("The champion is 2026-03."), "a model is promoted");
  await page.click("#rollback");
  await page.fill("#reason", "and back");
  await page.click("main button[type=submit]");
  check((await main(page)).includes("The champion is 2026-02."), "and rolled back");
});

await section("what is refused", async () => {
  const page = await person(full);
  await login(page, full.tokens.ada);
  for (const [path, status, text] of [
    ["/no/such/page", 404, "There is no such page"],
    ["/chains/vision3", 404, "There is no chain"],
    ["/models/rollback", 403, "for operators"],
    ["/chains?state=odd", 400, "odd"],
    ["/chains/serve01/resume", 409, "already"],
  ]) {
    const answer = await page.goto(path);
    check(answer.status() === status && (await main(page)).includes(text), `${path}: ${status}`);
  }
  await page.goto("/no/such/page");
  await picture(page, "error", { docs: true });
  await page.goto("/chains");
  check(!(await main(page)).includes("vision-encoder"), "others' chains are not listed");
  const reader = await person(full);
  await login(reader, full.tokens.reader);
  await reader.goto("/");
  check((await main(reader)).includes("what to do first") === false, "a reader of a server with a history sees it");
});

await section("5,000 chains", async () => {
  const page = await person(full);
  await login(page, full.tokens.operator);
  let listed = 0;
  const began = Date.now();
  await page.goto("/chains?state=done");
  const ids = new Set();
  for (let i = 0; i < 30; i++) {
    for (const id of await page.$$eval("tbody th a", (all) => all.map((a) => a.textContent))) ids.add(id);
    listed = ids.size;
    const next = await page.$("a[rel=next]");
    if (!next) break;
    await next.click();
  }
  check(listed === 1000, `all ${listed} chains that are done are listed, page by page, in ${Date.now() - began} ms`);
});

await section("an empty installation", async () => {
  const page = await person(empty);
  await login(page, empty.tokens.operator);
  check((await main(page)).includes("what to do first"), "it says what to do first");
  check(/segue history import jobs\.log --cluster NAME --store \/\S+\/segue\.db/.test(await main(page)), "what it says works on the server's store");
  await picture(page, "empty", { docs: true });
  for (const [path, name] of pages.filter(([path]) => path !== "/chains/llama70b")) {
    const answer = await page.goto(path);
    check(answer.status() === 200, `${name} of an empty installation`);
  }
  check(page.complaints.length === 0, `no complaints: ${page.complaints.join("; ")}`);
});

await browser.close();
console.log(failures === 0 ? "all is well" : `${failures} failures`);
process.exitCode = failures === 0 ? 0 : 1;
