// Conveniences of pages that work without them: answers replace one another in place, a form follows the sampling scheme,
// long work is polled, parts load by themselves, sliders move numbers.
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

// Completes a new element: polls unfinished work, loads its parts, announces its result to screen readers.
function settle(element, title) {
  const running = element.querySelector("[data-running]");
  if (running) {
    const at = element.dataset.at, id = element.id;
    setTimeout(() => { if (document.getElementById(id) === element) take(at, id); }, 700);
  }
  for (const part of element.querySelectorAll("[data-src]")) {
    if (!element.contains(part)) continue;
    part.setAttribute("aria-busy", "true");
    take(part.dataset.src + "&by-itself=yes", part.id);
  }
  if (element.id === "answer") {
    if (title) document.title = title;
    const refused = element.querySelector(":scope > .refused");
    const said = document.getElementById("said");
    if (said) said.textContent = refused ? "" : running ? "Computing" : title || document.title;
  }
}

function address(of) {
  const pairs = [...new FormData(of)].filter(([, value]) => typeof value === "string" && value.trim() !== "");
  return of.getAttribute("action") + "?" + new URLSearchParams(pairs);
}

function ask(url, remember) {
  const answer = document.getElementById("answer");
  if (!answer) { location.href = url; return; }
  answer.setAttribute("aria-busy", "true");
  take(url, "answer", (page) => {
    if (remember) history.pushState(null, "", url);
    here = location.pathname + location.search;
    document.querySelector(".both").className = page.querySelector(".both").className;
    const shown = document.querySelector("#question .values"), fresh = page.querySelector("#question .values");
    if (fresh && shown && fresh.elements.length !== shown.elements.length) shown.replaceWith(fresh);
    const shownAnswer = document.getElementById("answer"), top = shownAnswer.getBoundingClientRect().top;
    if (top < 0 || top > innerHeight) shownAnswer.scrollIntoView();
    mark(page);
  }).catch(() => { location.href = url; });
}

// Shows an error at its field, with the focus there, and takes away the last one.
function mark(page) {
  for (const old of document.querySelectorAll("#question .wrong")) old.remove();
  for (const old of document.querySelectorAll("#question [aria-invalid]")) {
    old.removeAttribute("aria-invalid");
    const help = document.getElementById(`${old.id}-help`);
    if (help) old.setAttribute("aria-describedby", help.id); else old.removeAttribute("aria-describedby");
  }
  const text = page.querySelector("#question .wrong"), fresh = page.querySelector("#question [aria-invalid]");
  const field = fresh && document.getElementById(fresh.id);
  if (!field) return;
  for (const name of ["aria-invalid", "aria-describedby"]) field.setAttribute(name, fresh.getAttribute(name));
  const place = field.closest(".field"), help = place.querySelector("small");
  if (help) help.before(text); else place.append(text);
  const folded = field.closest("details");
  if (folded) folded.open = true;
  field.focus();
}

// A choice that changes which fields there are brings a new form; the values of all fields go with it.
async function renew(one) {
  const of = form(), gone = document.getElementById("gone");
  gone.disabled = false;
  const url = address(of).replace("?", "/form?");
  gone.disabled = true;
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("question");
  if (!fresh || form() !== of) return;
  const open = [...of.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
  of.replaceWith(fresh);
  for (const each of fresh.querySelectorAll("details > summary")) {
    if (open.includes(each.textContent)) each.parentElement.open = true;
  }
  enhance(fresh);
  document.getElementById(one.id)?.focus();
  document.getElementById("answer")?.classList.add("old");
  document.getElementById("said").textContent = "The form has changed: fill it in and press Answer";
}

document.addEventListener("submit", (event) => {
  const one = event.target;
  if (one === form() && asks(one)) {
    event.preventDefault();
    ask(address(one), true);
  }
});

document.addEventListener("click", (event) => {
  const part = event.target.dataset?.takes;
  if (!part) return;
  event.preventDefault();
  take(event.target.href, part);
});

document.addEventListener("change", (event) => {
  const one = event.target, of = form();
  if (!of || one.form !== of && !one.classList.contains("slider") || !asks(of)) return;
  const chooses = of.dataset.choosers.split(" ").includes(one.name);
  if (chooses && of.querySelector("[name=sampling], [name=release]")) renew(one);
  else if (one.matches("select, input[type=checkbox], input[type=range]")) of.requestSubmit();
});

let here = location.pathname + location.search;
addEventListener("popstate", () => { if (location.pathname + location.search !== here) location.reload(); });

// Sliders hold powers of ten, the text beside them is sent. A chosen file fills the text of its field, without the
// line breaks and blanks between the lines of JSON; CSV keeps its lines.
function enhance(part) {
  for (const slider of part.querySelectorAll(".slider")) {
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
  for (const chooser of part.querySelectorAll("input[type=file]")) {
    chooser.hidden = chooser.labels[0].hidden = false;
    chooser.addEventListener("change", async () => {
      const text = chooser.files[0] && await chooser.files[0].text();
      if (text !== undefined) document.getElementById(chooser.dataset.for).value = text.trimStart().startsWith("{") ? text.replace(/\r?\n\s*/g, "") : text;
    });
  }
}
enhance(document);

document.querySelector(".questions [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
const first = document.getElementById("answer");
if (first) settle(first);
document.querySelector("#question [aria-invalid]")?.focus();
for (const id of ["details", "accountants", "rates"]) {
  const alone = document.querySelector(`#main > #${id}`);
  if (alone) settle(alone);
}
