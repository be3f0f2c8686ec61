// What pages do beyond links and forms, all of which work without it: answers replace one another in place, long work is
// asked after, parts load by themselves, sliders move numbers.
"use strict";

const form = () => document.getElementById("question");
const asks = (of) => of.getAttribute("method") === "get"; // a field may be called "method"

async function take(url, id, then) {
  const mine = ++take.count;
  take.newest[id] = mine;
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById(id);
  const old = document.getElementById(id);
  if (take.newest[id] !== mine || !old) return;
  if (!fresh) { location.href = url; return; }
  old.replaceWith(fresh);
  if (then) then(page);
  settle(fresh, page.title);
}
take.count = 0;
take.newest = {};

// What has just appeared: ask again where it is not finished, load its parts, say its verdict to those who listen.
function settle(element, title) {
  const running = element.querySelector("[data-running]");
  if (running) {
    const at = element.dataset.at, id = element.id;
    setTimeout(() => { if (document.getElementById(id) === element) take(at, id); }, 700);
  }
  for (const part of element.querySelectorAll("[data-src]")) {
    if (!element.contains(part)) continue;
    part.setAttribute("aria-busy", "true");
    take(part.dataset.src, part.id);
  }
  if (element.id === "answer" && title && element.getBoundingClientRect().top > innerHeight) element.scrollIntoView();
  if (element.id === "answer") {
    const refused = element.querySelector(":scope > .refused");
    const said = document.getElementById("said");
    if (said) said.textContent = refused ? "" : running ? "Working" : title || document.title;
  }
}

function address(of) {
  const pairs = [...new FormData(of)].filter(([, value]) => value.trim() !== "");
  return of.getAttribute("action") + "?" + new URLSearchParams(pairs);
}

function ask(url, remember) {
  const answer = document.getElementById("answer");
  if (!answer) { location.href = url; return; }
  answer.setAttribute("aria-busy", "true");
  take(url, "answer", (page) => {
    document.title = page.title;
    if (remember) history.pushState(null, "", url);
    here = location.pathname + location.search;
    const shown = document.querySelector("#question fieldset"), fresh = page.querySelector("#question fieldset");
    if (fresh && shown && fresh.elements.length !== shown.elements.length) shown.replaceWith(fresh);
  }).catch(() => { location.href = url; });
}

document.addEventListener("submit", (event) => {
  const one = event.target;
  if (one === form() && asks(one)) {
    event.preventDefault();
    ask(address(one), true);
  }
});

document.addEventListener("change", (event) => {
  const one = event.target, of = form();
  if (!of || one.form !== of && !one.classList.contains("slider") || !asks(of)) return;
  if (one.matches("select, input[type=checkbox], input[type=range]")) of.requestSubmit();
});

let here = location.pathname + location.search;
addEventListener("popstate", () => { if (location.pathname + location.search !== here) location.reload(); });

// Sliders hold powers of ten; what is asked is always the text.
for (const slider of document.querySelectorAll(".slider")) {
  const text = document.getElementById(slider.dataset.for);
  if (!text) continue;
  const follow = () => { const value = Number(text.value); if (value > 0) slider.value = Math.log10(value); };
  slider.hidden = false;
  follow();
  text.addEventListener("input", follow);
  slider.addEventListener("input", () => {
    text.value = (10 ** Number(slider.value)).toExponential(1).replace("e+", "e").replace(".0e", "e");
  });
}

// A file that a person chooses fills the text of its field; nothing else is done with it.
for (const chooser of document.querySelectorAll("input[type=file]")) {
  chooser.hidden = chooser.labels[0].hidden = false;
  chooser.addEventListener("change", async () => {
    if (chooser.files[0]) document.getElementById(chooser.dataset.for).value = await chooser.files[0].text();
  });
}

const first = document.getElementById("answer");
if (first) settle(first);
for (const id of ["details", "accountants"]) {
  const alone = document.querySelector(`#main > #${id}`);
  if (alone) settle(alone);
}
