// The browser for a test: a page, and all that must not happen on it.
// Environment: NODE_FOLDER (where playwright-core is), PAGE (the address), SHOTS (where pictures go, optional).
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const { chromium } = await import(join(process.env.NODE_FOLDER, "playwright-core", "index.mjs"));

export const check = (holds, text) => {
  if (!holds) throw new Error(text);
};

// Runs `scenario(page, browser)` and fails if anything unexpected happened on the way.
export const visit = async (scenario, options = {}) => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  const troubles = [];
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    const home = process.env.PAGE;
    const isOurs = (address) =>
      home.startsWith("file:")
        ? address.startsWith(home.replace(/index\.html.*/, ""))
        : address.startsWith(new URL(home).origin + "/");
    page.on("dialog", (dialog) => {
      troubles.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && troubles.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => troubles.push(`error: ${error.stack}`));
    page.on(
      "request",
      (request) => !isOurs(request.url()) && !request.url().startsWith("data:,") && troubles.push(`request: ${request.url()}`),
    );
    page.on("popup", (popup) => troubles.push(`popup: ${popup.url()}`));
    await page.goto(home);
    const told = await scenario(page, context);
    check(!troubles.length, troubles.join("\n"));
    process.stdout.write(JSON.stringify(told ?? {}) + "\n");
  } catch (error) {
    process.stderr.write(`${error.stack}\n${troubles.join("\n")}\n`);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
};

// The texts of elements, word by word, in view or not: what is out of view may not be laid out, and has no inner text.
export const texts = (page, selector) =>
  page.locator(selector).evaluateAll((elements) =>
    elements.map((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const words = [];
      while (walker.nextNode()) words.push(walker.currentNode.data);
      return words.join(" ").replace(/\s+/g, " ").trim();
    }),
  );

export const shot = async (page, name) => {
  if (!process.env.SHOTS) return;
  mkdirSync(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
};
