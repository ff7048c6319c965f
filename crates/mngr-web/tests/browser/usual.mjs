// The page with three runs, from disk or from the server: list, filter, test, transcript, player, comparison, search, keys.
import { check, shot, visit } from "./page.mjs";

await visit(async (page) => {
  // The list.
  await page.waitForSelector(".test");
  check((await page.locator(".run").count()) === 4, "four runs");
  check((await page.locator(".run").first().innerText()).includes("before-the-fix"), "the newest run is first");
  await shot(page, "list");
  await page.locator(".chip[data-status=failed]").click();
  check((await page.locator(".test").count()) === 2, "two failed tests");
  await page.locator(".chip[data-status=failed]").click();
  await page.fill("#search", "tell an agent");
  check((await page.locator(".test").count()) === 2, "found by the block's title");
  await page.fill("#search", "");

  // The keyboard.
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".k-command");
  check(decodeURIComponent(page.url()).endsWith("#/before-the-fix/test_create--creates_an_agent"), page.url());

  // The test.
  const text = await page.locator("main").innerText();
  for (const words of [
    "creates_an_agent",
    "AssertionError",
    "Create an agent and list it",
    "shows up in the list",
    "3 tries",
    "2.1 s",
  ]) {
    check(text.includes(words), `${words} is on the page`);
  }
  await page.waitForFunction(() => document.querySelector(".screen-row")?.textContent.includes("you@host"));
  // Looked at in one go: the rows are painted anew once the recordings are there.
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".row .text span")].some(
      (span) => span.textContent.includes("STOPPED") && getComputedStyle(span).color === "rgb(240, 113, 120)",
    ),
  );
  check(!(await page.locator(".rows").innerText()).includes("\u001b"), "no escape sequences");
  await shot(page, "test");

  // From a line of the transcript to the moment in the recording, and back.
  await page.locator(".k-out", { hasText: "Created" }).locator("button.seek").click();
  await page.waitForFunction(() => document.querySelector(".clock").textContent.startsWith("0:00.8"));
  check((await page.locator(".screen-rows").innerText()).includes("mngr create fix-login claude"), "the screen of that moment");
  check(page.url().endsWith("fix-login.cast@0.8"), page.url());
  await page.locator(".player .text-button", { hasText: "Transcript" }).click();
  await page.waitForSelector(".row.chosen");
  check((await page.locator(".row.chosen").innerText()).includes("Created"), "the line of that moment");

  // The player: seek, find, speed, play.
  await page.locator(".seekbar").evaluate((bar) => {
    bar.value = 9700;
    bar.dispatchEvent(new Event("input"));
  });
  await page.waitForFunction(() => document.querySelector(".screen-rows").textContent.includes("Fixed it"));
  check((await page.locator(".screen-rows").innerText()).includes("\u4f60\u597d"), "wide characters");
  await shot(page, "player");
  await page.fill(".find", "cookie");
  await page.press(".find", "Enter");
  await page.waitForFunction(() => document.querySelector(".found").textContent === "1 of 1");
  check((await page.locator(".clock").innerText()).startsWith("0:09.0"), "the moment that was found");
  check(!(await page.locator(".screen-rows").innerText()).includes("Fixed it"), "a moment before");
  await page.selectOption(".speed", "16");
  await page.locator(".play").click();
  await page.waitForFunction(() => document.querySelector(".screen-rows").textContent.includes("Fixed it"));
  await page.waitForFunction(() => document.querySelector(".play").title === "Play");
  await page.locator(".screen").focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector(".clock").textContent.startsWith("0:05.2"));
  const letters = () => page.locator(".screen").evaluate((screen) => parseFloat(screen.style.fontSize));
  const beside = await letters();
  await page.keyboard.press("f");
  await page.waitForFunction(() => document.fullscreenElement?.classList.contains("player"));
  await page.waitForFunction((was) => parseFloat(document.querySelector(".screen").style.fontSize) > was, beside);
  await page.keyboard.press("f");
  await page.waitForFunction(() => !document.fullscreenElement);

  // An address leads to its place.
  const home = page.url().split("#")[0];
  await page.goto(`${home}#/2026-05-02_09-30-00/test_create--creates_an_agent/L8`);
  await page.waitForSelector(".row.chosen");
  check((await page.locator(".row.chosen .no").innerText()) === "8", "line 8");
  await page.goto(`${home}#/2026-05-02_09-30-00/test_create--creates_an_agent/fix-login.cast@3.3`);
  await page.waitForFunction(() => document.querySelector(".clock").textContent.startsWith("0:03.3"));

  // The comparison with the try before.
  await page.locator(".try-list a", { hasText: "Compare" }).last().click();
  await page.waitForSelector(".diff");
  check((await page.locator(".diff .minus .text").innerText()).includes("fix-login RUNNING"), "what was");
  check((await page.locator(".diff .plus .text").innerText()).includes("fix-login STOPPED"), "what is");
  await shot(page, "diff");

  // Search over everything.
  await page.keyboard.press("/");
  await page.keyboard.type("cookie is set");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^3 places in 3 tests$/.test(document.querySelector("main .sum")?.textContent));
  await shot(page, "search");
  await page.locator(".result-link").first().click();
  await page.waitForFunction(() => document.querySelector(".clock")?.textContent.startsWith("0:09.0"));
  await page.locator("h1").click();
  await page.keyboard.press("?");
  check(await page.locator("#help").isVisible(), "help");
  await shot(page, "help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.waitForSelector(".list-head");

  // What only text is left of.
  await page.goto(`${home}#/2025-12-24_18-00-00/test_old_runner`);
  await page.waitForSelector(".k-exit");
  check((await page.locator("main").innerText()).includes("Only text is here."), "the docstring of an older runner");
});
