// A test that appears, goes on and ends while the page is open. Each side waits for a line from the other.
import { createInterface } from "node:readline";
import { check, visit } from "./page.mjs";

// Or a failure would wait for a word that never comes.
process.stdin.unref();
await visit(async (page) => {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const go = (word) => process.stdout.write(`${word}\n`);
  await page.waitForSelector("main .nothing");
  go("empty");
  await lines.next(); // The test has begun.
  await page.waitForSelector(".test.s-running");
  await page.locator(".test a").first().click();
  await page.waitForSelector(".k-command");
  go("running");
  await lines.next(); // It has printed more and passed.
  await page.waitForSelector(".k-exit");
  await page.waitForSelector(".test-title .status.s-passed");
  check((await page.locator(".rows").innerText()).includes("more output"), "the new rows are there");
});
