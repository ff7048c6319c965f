// A transcript and a recording of 100 MB: how soon something is there, and how long the page ever stands still.
import { check, shot, visit } from "./page.mjs";

const ROWS = Number(process.env.ROWS);
await visit(async (page) => {
  await page.waitForSelector(".test");
  await page.evaluate(() => {
    window.gaps = [];
    let before = performance.now();
    const tick = (now) => {
      window.gaps.push(now - before);
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const longest = () =>
    page.evaluate(() => {
      const gap = Math.max(0, ...window.gaps);
      window.gaps = [];
      return Math.round(gap);
    });
  await longest();
  const start = Date.now();
  await page.locator(".test a").first().click();
  await page.waitForFunction(() => document.querySelector(".rows-view .k-out"));
  const firstRows = Date.now() - start;
  await page.waitForFunction(() => document.querySelector(".screen-row")?.textContent.includes("flood"));
  const firstScreen = Date.now() - start;
  const opening = await longest();
  const setsize = () =>
    page.evaluate(() => Number(document.querySelector(".rows-view [aria-setsize]")?.getAttribute("aria-setsize")));
  while ((await setsize()) < ROWS) {
    check(Date.now() - start < 240000, `only ${await setsize()} of ${ROWS} rows`);
    await page.waitForTimeout(200);
  }
  const allRows = Date.now() - start;
  await longest();
  // Through the whole transcript, by the bar and by the wheel.
  for (const part of [0.1, 0.5, 0.9, 0.25, 1]) {
    await page.evaluate((part) => {
      const box = document.querySelector(".rows");
      box.scrollTop = part * (box.scrollHeight - box.clientHeight);
    }, part);
    await page.waitForFunction(
      () =>
        [...document.querySelectorAll(".rows-view .row")].length > 10 &&
        [...document.querySelectorAll(".rows-view .row")].every((row) => row.querySelector(".mark")),
    );
  }
  const lastLine = await page.locator(".rows-view .row").last().locator(".no").innerText();
  check(Number(lastLine) === ROWS, `the end is line ${lastLine} of ${ROWS}`);
  await page.locator(".rows").hover();
  for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, -300);
  await page.waitForTimeout(300);
  const scrolling = await longest();
  const inPage = await page.locator(".rows-view .row").count();
  check(inPage < 200, `${inPage} rows are in the page`);
  await page.waitForFunction(() => !document.querySelector(".clock").textContent.includes("\u2026"), null, { timeout: 300000 });
  const wholeRecording = Date.now() - start;
  await longest();
  for (const part of [0.9, 0.1, 0.6]) {
    await page.locator(".seekbar").evaluate((bar, part) => {
      bar.value = part * Number(bar.max);
      bar.dispatchEvent(new Event("input"));
    }, part);
    await page.waitForTimeout(300);
  }
  await page.selectOption(".speed", "16");
  await page.locator(".play").click();
  await page.waitForTimeout(2000);
  const playing = await longest();
  await shot(page, "large");
  const heap = await page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6));
  return { firstRows, firstScreen, allRows, wholeRecording, gaps: { opening, scrolling, playing }, inPage, heap };
});
