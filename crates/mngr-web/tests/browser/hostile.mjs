// Text that wants to be markup, script, style, an address or an escape sequence stays text.
import { check, shot, visit } from "./page.mjs";

await visit(async (page) => {
  const elements = () =>
    page.evaluate(() => ({
      images: document.querySelectorAll("img, iframe, object, embed, style, form[action]").length,
      foreign: [...document.querySelectorAll("[href], [src]")]
        .map((e) => e.getAttribute("href") || e.getAttribute("src"))
        .filter((a) => !/^(#|assets\/|raw\/|data\/|data:,$)/.test(a)),
      handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
      controls: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(document.body.innerText),
    }));
  const harmless = async (where) => {
    const { images, foreign, handlers, controls } = await elements();
    check(
      images === 0 && handlers === 0 && !foreign.length && !controls,
      `${where}: ${JSON.stringify({ images, foreign, handlers, controls })}`,
    );
  };
  await page.waitForSelector(".test");
  await harmless("the list");
  await page.locator(".test a").first().click();
  await page.waitForSelector(".k-command");
  await page.waitForFunction(() => document.querySelector(".screen-row")?.textContent.includes("</script>"));
  check((await page.locator(".k-command").first().innerText()).includes("</script><script>alert(1)"), "it is shown as it is");
  await harmless("the test");
  await shot(page, "hostile");
  await page.fill(".find", "alert");
  await page.press(".find", "Enter");
  await page.waitForFunction(() => /of/.test(document.querySelector(".found").textContent));
  await page.fill("#search", "<img src=x onerror=alert(7)>");
  await page.press("#search", "Enter");
  await page.waitForSelector("main .nothing");
  await page.fill("#search", "onerror=alert(2)");
  await page.press("#search", "Enter");
  await page.waitForSelector(".places");
  await harmless("the search");
  // What stands in the address is text as well.
  const home = page.url().split("#")[0];
  for (const hash of [
    "#?%3Cimg src=x onerror=alert(8)%3E",
    "#/%3Cscript%3Ealert(9)%3C/script%3E/x",
    "#=%3Cimg%3E=x",
    "#/%E0%A4%A/x",
    "#/__proto__/constructor",
  ]) {
    await page.goto(home + hash);
    await page.waitForTimeout(100);
    await harmless(hash);
  }
});
