// Live updates: when something changed, fetch this page again and exchange the parts that differ.
// Everything works without this script, by reloading.
"use strict";

const live = document.body.dataset.live;
const shortest = 1000; // milliseconds between two refreshes: a busy stream must not keep the page busy
let waiting = null;
let last = 0;

function announce(text) {
  const place = document.getElementById("announcer");
  if (text && place.textContent !== text) place.textContent = text;
}

function keepOpen(part, fresh) {
  for (const details of part.querySelectorAll("details[id]")) {
    const twin = fresh.querySelector(`details[id="${details.id}"]`);
    if (twin) twin.open = details.open;
  }
}

async function refresh() {
  waiting = null;
  last = Date.now();
  let answer;
  try {
    answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
  } catch {
    return; // the stream below notices that the service is gone
  }
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!fresh || part.contains(document.activeElement) && document.activeElement !== document.body) continue;
    keepOpen(part, fresh);
    if (fresh.innerHTML === part.innerHTML) continue;
    if (fresh.dataset.say && fresh.dataset.say !== part.dataset.say) {
      announce(fresh.dataset.say);
      fresh.classList.add("fresh");
    }
    part.replaceWith(document.importNode(fresh, true));
  }
  if (page.querySelectorAll("[data-part]").length !== document.querySelectorAll("[data-part]").length) location.reload();
  document.body.dataset.refreshed = String(Number(document.body.dataset.refreshed || 0) + 1);
  filter();
}

function soon() {
  if (waiting === null) waiting = setTimeout(refresh, Math.max(0, last + shortest - Date.now()));
}

if (live && "EventSource" in window) {
  const source = new EventSource(live);
  for (const kind of ["opened", "attributed", "acknowledged", "closed", "condition", "progress"]) {
    source.addEventListener(kind, soon);
  }
  source.addEventListener("open", () => {
    document.body.classList.remove("stale");
    if (document.body.dataset.opened) soon(); // after a gap, look again
    document.body.dataset.opened = "yes";
  });
  source.addEventListener("error", () => {
    document.body.classList.add("stale");
    announce("The connection to the service was lost; trying again.");
  });
  addEventListener("pagehide", () => source.close());
}

function filter() {
  const field = document.getElementById("filter");
  if (!field) return;
  field.closest("label").hidden = false;
  const wanted = (sessionStorage.getItem("filter") || "").toLowerCase();
  if (document.activeElement !== field) field.value = wanted;
  for (const row of document.querySelectorAll(".monitor")) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
}

document.addEventListener("input", (event) => {
  if (event.target.id !== "filter") return;
  sessionStorage.setItem("filter", event.target.value);
  filter();
});
filter();
