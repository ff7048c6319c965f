// 500 tasks with recordings: how soon they are there, and how long the page stands still.
import { check, shot, visit } from "./page.mjs";

await visit(async (page) => {
  await page.waitForSelector(".task");
  const loaded = [];
  page.on("request", (request) => request.url().includes("/data/") && loaded.push(request.url()));
  await page.reload();
  await page.waitForSelector(".task");
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length);
  const times = await page.evaluate(() => ({
    shown: Math.round(performance.getEntriesByName("shown")[0].startTime),
    paint: Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime),
    elements: document.querySelectorAll("*").length,
  }));
  check((await page.locator(".task").count()) === 500, "all tasks are there");
  check(loaded.length === 1 && loaded[0].endsWith("/data/report.js"), `loaded before anything was opened: ${loaded}`);
  const filtered = await page.evaluate(async () => {
    const search = document.getElementById("search");
    const start = performance.now();
    search.value = "area_7";
    search.dispatchEvent(new Event("input"));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return Math.round(performance.now() - start);
  });
  check((await page.locator(".task:not([hidden])").count()) === 20, "the filter finds 20");
  await page.evaluate(() => {
    const search = document.getElementById("search");
    search.value = "";
    search.dispatchEvent(new Event("input"));
  });
  const scrolled = await page.evaluate(async () => {
    const gaps = [];
    let before = performance.now();
    for (let turn = 0; turn < 60; turn++) {
      scrollBy(0, 1500);
      await new Promise(requestAnimationFrame);
      gaps.push(performance.now() - before);
      before = performance.now();
    }
    return Math.round(Math.max(...gaps));
  });
  await shot(page, "report-large-end");
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "report-large");
  const start = Date.now();
  await page.locator(".task-id").nth(300).click();
  await page.waitForFunction(() => document.querySelector(".drawer .screen-rows")?.textContent.includes("task"));
  const opened = Date.now() - start;
  return { ...times, filtered, scrolled, opened };
});
