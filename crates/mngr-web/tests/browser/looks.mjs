// Pictures of the page on a phone and in the dark, and what must hold there: nothing wider than the screen, targets a thumb can hit.
import { check, shot, visit } from "./page.mjs";

await visit(
  async (page) => {
    await page.waitForSelector(".test");
    await page.waitForTimeout(300);
    await shot(page, "phone-list");
    const fits = async (where) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${where} is ${wide} pixels too wide`);
    };
    await fits("the list");
    const home = page.url().split("#")[0];
    await page.goto(`${home}#/2026-05-02_09-30-00/test_create--creates_an_agent/fix-login.cast@9.7`);
    await page.waitForFunction(() => document.querySelector(".screen-rows")?.textContent.includes("Fixed it"));
    await fits("the test");
    await shot(page, "phone-player");
    for (const target of await page.locator("button.control:visible, select:visible, .step:visible").all()) {
      const box = await target.boundingBox();
      check(
        box.height >= 34 && box.width >= 34,
        `${await target.evaluate((element) => element.outerHTML)} is ${box.width}x${box.height}`,
      );
    }
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, "phone-test");
    await page.evaluate(() => document.querySelector(".transcript").scrollIntoView());
    await shot(page, "phone-transcript");
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
);

await visit(
  async (page) => {
    await page.waitForSelector(".test");
    await shot(page, "dark-list");
    await page.goto(`${page.url().split("#")[0]}#/2026-05-02_09-30-00/test_create--creates_an_agent/fix-login.cast@9.7`);
    await page.waitForFunction(() => document.querySelector(".screen-rows")?.textContent.includes("Fixed it"));
    await shot(page, "dark-test");
  },
  { colorScheme: "dark" },
);
