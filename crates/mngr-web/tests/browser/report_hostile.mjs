// Text of agents that wants to be markup, script, an address or an escape sequence stays text.
import { check, shot, visit } from "./page.mjs";

await visit(async (page) => {
  const harmless = async (where) => {
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll("img, iframe, object, embed, style, form[action], main svg [onload]").length,
      foreign: [...document.querySelectorAll("[href], [src]")]
        .map((e) => e.getAttribute("href") || e.getAttribute("src"))
        .filter((a) => !/^(#|assets\/|data\/|data:,$)/.test(a)),
      handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
      controls: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(document.body.textContent),
    }));
    check(!found.elements && !found.handlers && !found.foreign.length && !found.controls, `${where}: ${JSON.stringify(found)}`);
  };
  await page.waitForSelector(".task");
  check((await page.locator(".going-on").first().innerText()).includes("reload"), "a run that goes on says so");
  const row = page.locator(".task", { hasText: "alert(4)" });
  check((await row.textContent()).includes("<img src=x onerror=alert(2)>"), "it is shown as it is");
  await harmless("the report");
  await shot(page, "report-hostile");
  await row.locator(".task-id").click();
  await page.waitForSelector(".drawer .k-command");
  await page.locator(".later summary", { hasText: "Conversation" }).click();
  await page.locator(".later summary", { hasText: "Other files" }).click();
  await page.waitForSelector(".said-tool");
  check(
    (await page.locator(".player-note").allInnerTexts()).some((note) => note.includes("no recording")),
    "what is no recording says so",
  );
  await harmless("the task");
  await shot(page, "report-hostile-task");
  const home = page.url().split("#")[0];
  for (const hash of [
    "#task=%3Cimg src=x onerror=alert(8)%3E",
    "#task=../../x",
    "#task=__proto__",
    "#part-%3Cb%3E",
    "#%E0%A4%A",
  ]) {
    await page.goto(home + hash);
    await page.waitForTimeout(100);
    await harmless(hash);
  }
});
