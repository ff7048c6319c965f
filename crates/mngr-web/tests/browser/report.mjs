// The report of a run with every kind of task, opened from disk.
import { check, shot, texts, visit } from "./page.mjs";

await visit(async (page) => {
  await page.waitForSelector(".task");
  const text = (selector) => texts(page, selector);
  await shot(page, "report");
  check((await text("h1"))[0] === "tmr 20260502093000", "the run is named");
  check((await text(".test-title .status"))[0].includes("finished"), "how it ended");
  const links = await text(".side-link");
  const expected = ["Causes 3", "Escalations 3", "Integration", "Non-implementation fixes 2", "Implementation fixes 3"];
  expected.push("Unresolved 1", "Blocked 1", "Failed 5", "Clean pass 1", "Timeline");
  check(JSON.stringify(links) === JSON.stringify(expected), `sections: ${JSON.stringify(links)}`);
  const commands = await text(".command code");
  check(commands[0] === "mngr list --label 'mapreduce_run_name=20260502093000'", commands[0]);
  check(/^mngr tmr reintegrate \//.test(commands[1]), commands[1]);
  check(
    commands.some((command) => command === "git switch tmr/20260502093000/integrated"),
    commands.join("\n"),
  );
  check(
    (await text(".cause")).some((cause) => cause.startsWith("3 \u00d7 failed(launch): cannot create the worktree")),
    "one line for one cause",
  );
  check((await text(".cause.limit"))[0].includes("$5.02 of $5.00"), "the limit");
  const escalations = await text("#part-escalations .escalation");
  check(escalations[0].startsWith("Blocker") && escalations[1].includes("3 reports"), escalations.join("\n"));
  const integration = (await text("#part-integration"))[0];
  for (const part of ["ab12ab12ab", "23: 2 test(s) unblocked +20", "fails with exit code 2", "against", "2 votes"])
    check(integration.includes(part), part);
  const lie = (await text('[data-slug="tests-test-parse-py-says-it-passes"]'))[0];
  check(lie.includes("after 0/3 passed said: passes \u2260"), lie);
  check(lie.includes("failed: verification") && lie.includes("fix impl (not said)"), lie);
  check((await text("#part-unresolved .hint-steps li")).length === 3, "three steps for what is unresolved");
  check((await text("#part-blocked"))[0].includes("nothing starts one"), "the reason of what is blocked");
  check((await text(".task-says strong"))[0] === "last line", "markdown is shown as what it means");
  check((await page.locator("#part-timeline path").count()) > 5, "bars");
  await page.locator("#part-timeline").scrollIntoViewIfNeeded();
  await shot(page, "report-timeline");
  await page.locator("#part-integration").evaluate((part) => part.scrollIntoView());
  await shot(page, "report-integration");

  // The filter.
  await page.press("body", "/");
  await page.keyboard.type("crlf");
  await page.waitForFunction(() => document.querySelectorAll(".task:not([hidden])").length === 1);
  check(await page.locator("#part-failed").isHidden(), "empty sections go");
  await page.fill("#search", "");

  // A task, by the keyboard.
  await page.press("#search", "Escape");
  await page.locator('[data-slug="tests-test-parse-py-keeps-the-last-line"] .task-id').focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".drawer[open] .attempt");
  check(page.url().endsWith("#task=tests-test-parse-py-keeps-the-last-line"), page.url());
  const panel = (await text(".drawer"))[0];
  for (const part of ["Read the rest of the buffer", "exit 1 (412 ms)", "src/parse.py", "Published outcome", "local"])
    check(panel.includes(part), part);
  await page.waitForFunction(() => document.querySelector(".drawer .screen-rows")?.textContent.includes("test $"));
  await page.waitForSelector(".drawer .k-command");
  await shot(page, "report-task");
  await page.locator(".drawer .play").scrollIntoViewIfNeeded();
  await page.selectOption(".drawer .speed", "16");
  await page.locator(".drawer .play").click();
  await page.waitForFunction(() => document.querySelector(".drawer .screen-rows").textContent.includes("1 passed"));
  await shot(page, "report-player");
  await page.locator(".later summary", { hasText: "Conversation" }).click();
  await page.waitForSelector(".said-tool");
  check((await text(".said-user code"))[0] === "pytest -x tests/test_parse.py", "the conversation");
  await page.locator(".said-tool").scrollIntoViewIfNeeded();
  await shot(page, "report-conversation");

  // On to the next, and back.
  await page.locator(".drawer-title").click();
  await page.keyboard.press("n");
  await page.waitForFunction(() => document.querySelector(".drawer-title").textContent.includes("counts_lines"));
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".drawer").open && !location.hash.includes("task="));

  // Several attempts, and the last one first. The address alone leads there.
  const home = page.url().split("#")[0];
  await page.goto(`${home}#task=tests-test-parse-py-starts-a`);
  await page.reload();
  await page.waitForSelector(".drawer .tab");
  check((await page.locator(".tab[aria-selected=true]").innerText()).startsWith("Attempt 2"), "the last attempt");
  await page.locator(".tab").first().focus();
  await page.keyboard.press("ArrowLeft");
  await page.goto(`${home}#integrator`);
  await page.waitForFunction(() => document.querySelector(".drawer")?.textContent.includes("resolved 1 conflict"));
  await page.goto(`${home}#task=nobody`);
  await page.waitForFunction(() => document.querySelector(".drawer")?.textContent.includes("no such task"));
});
