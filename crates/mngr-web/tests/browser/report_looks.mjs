// Pictures of the report on a phone and in the dark, and what must hold there.
import { check, shot, visit } from "./page.mjs";

await visit(
  async (page) => {
    await page.waitForSelector(".task");
    const fits = async (where) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${where} is ${wide} pixels too wide`);
    };
    await shot(page, "report-phone");
    await fits("the report");
    await page.locator("#part-implementation").evaluate((part) => part.scrollIntoView());
    await shot(page, "report-phone-tasks");
    await page.goto(`${page.url().split("#")[0]}#task=tests-test-parse-py-keeps-the-last-line`);
    await page.waitForSelector(".drawer .k-command");
    await fits("the task");
    const wide = await page.locator(".drawer-body").evaluate((body) => body.scrollWidth - body.clientWidth);
    check(wide <= 0, `the task is ${wide} pixels too wide`);
    await shot(page, "report-phone-task");
    for (const target of await page.locator("button.control:visible, select:visible, .tab:visible").all()) {
      const box = await target.boundingBox();
      check(
        box.height >= 34 && box.width >= 34,
        `${await target.evaluate((element) => element.outerHTML)} is ${box.width}x${box.height}`,
      );
    }
  },
  { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
);

await visit(
  async (page) => {
    await page.waitForSelector(".task");
    await shot(page, "report-dark");
    await page.locator("#part-timeline").evaluate((part) => part.scrollIntoView());
    await shot(page, "report-dark-timeline");
    await page.goto(`${page.url().split("#")[0]}#task=tests-test-parse-py-keeps-the-last-line`);
    await page.waitForSelector(".drawer .k-command");
    await shot(page, "report-dark-task");
  },
  { colorScheme: "dark" },
);
