// Writes the folder of a run as `mngr tmr` leaves it. usage: node report_fixture.mjs KIND FOLDER
// KIND: usual (every stage), hostile (text that wants to be more), large (500 tasks with recordings).
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , kind, root] = process.argv;
const ESC = "\u001b";
const START = Date.UTC(2026, 4, 2, 9, 30, 0);
const RUN = "20260502093000";

class Journal {
  lines = [];
  add(ms, event, fields) {
    this.lines.push({ ms, event, fields });
  }
  write(folder) {
    const sorted = this.lines.map((line, order) => ({ ...line, order })).sort((a, b) => a.ms - b.ms || a.order - b.order);
    const text = sorted.map(({ ms, event, fields }, index) =>
      JSON.stringify({ time: new Date(START + ms).toISOString(), seq: index + 1, event, ...fields }),
    );
    writeFileSync(join(folder, "run.jsonl"), text.join("\n") + "\n");
  }
}

const journal = new Journal();
const slugs = new Map();
const slug = (id) => {
  if (!slugs.has(id))
    slugs.set(
      id,
      id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "")
        .slice(0, 40)
        .replace(/-$/, "") || "task",
    );
  return slugs.get(id);
};
const begin = (total, command) =>
  journal.add(0, "run_started", {
    run: RUN,
    name: "tmr",
    base_commit: "4f0c2d9e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d",
    command,
    settings: {},
    tasks_total: total,
  });
const queue = (id, reason = "failing") => journal.add(10, "task_queued", { task: id, reason });

const cast = (prints) =>
  [JSON.stringify({ version: 2, width: 80, height: 12, timestamp: START / 1000, mngr: { started_ms: START } })]
    .concat(prints.map(([at, text]) => JSON.stringify([at, "o", text])))
    .join("\n") + "\n";

const leave = (id, attempt, { screen, said, sessions = {}, files = {} }) => {
  const folder = join(root, "tasks", slug(id), `attempt-${attempt}`);
  mkdirSync(join(folder, "artifacts"), { recursive: true });
  if (screen) writeFileSync(join(folder, "screen.txt"), screen);
  if (said) writeFileSync(join(folder, "transcript.jsonl"), said.map((line) => JSON.stringify(line) + "\n").join(""));
  for (const [name, { transcript, casts = {} }] of Object.entries(sessions)) {
    mkdirSync(join(folder, "artifacts", name), { recursive: true });
    if (transcript) writeFileSync(join(folder, "artifacts", name, "transcript.txt"), transcript);
    for (const [file, text] of Object.entries(casts)) writeFileSync(join(folder, "artifacts", name, file), text);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "artifacts", name), text);
};

// An attempt through its stages: [stage, ms] pairs; what it says, what was measured, its commits.
const attempt = (id, number, stages, { said, measured = {}, commits, evidence = "", tokens, cost } = {}) => {
  const agent = `tmr-${RUN}-${slug(id)}${number > 1 ? `-${number}` : ""}`;
  stages.forEach(([stage, ms], index) => {
    const isLast = index === stages.length - 1;
    const [word, kind] = stage.split(":");
    const fields = { task: id, attempt: number, stage: word, ...(kind ? { kind } : {}), evidence: isLast ? evidence : "" };
    if (number > 0 && word !== "queued") Object.assign(fields, { agent, host: "local" });
    if (isLast && tokens) Object.assign(fields, { tokens, cost });
    if (word === "pulled" && said) journal.add(ms, "outcome", { task: id, attempt: number, outcome: said });
    if (word === "verified") {
      for (const [what, [verdict, exits]] of Object.entries(measured))
        journal.add(ms, "measured", { task: id, attempt: number, what, verdict, runs: exits.map((exit) => ({ exit, ms: 412 })) });
      if (commits) journal.add(ms, "classified", { task: id, attempt: number, commits });
    }
    journal.add(ms, "stage", fields);
  });
};

const outcome = (result, summary, more = {}) => ({
  result,
  summary_markdown: summary,
  reason: null,
  tests_passing_before: false,
  tests_passing_after: true,
  changes: [],
  test_runs: [{ run_name: "try_1", description_markdown: "Unchanged: **red**." }],
  escalations: [],
  ...more,
});
const commit = (hash, kind, paths, measured = kind) => ({
  hash: hash.repeat(40).slice(0, 40),
  subject: `[${kind}] Say what the parser saw`,
  claimed: kind,
  measured,
  paths,
});
const path = (from, wait = 0, last = "integrated", end = 290000) => [
  ["launching", from],
  ["ready", from + 2100],
  ["working", from + 2600],
  ["published", from + 52000 + wait],
  ["pulled", from + 52400 + wait],
  ["verified", from + 58000 + wait],
  ...(last ? [[last, end]] : []),
];
const PROVEN = { before: ["failed", [1, 1, 1]], after: ["passed", [0, 0, 0]], mutation: ["failed", [1, 1, 1]] };
const session = [
  [0.2, `${ESC}[32mtest${ESC}[0m $ `],
  [0.6, "pytest -x tests/test_parse.py\r\n"],
  [1.5, `${ESC}[1;31mFAILED${ESC}[0m last line is lost\r\n`],
  [3.0, "edited src/parse.py\r\n"],
  [6.0, `${ESC}[1;32m1 passed${ESC}[0m in 0.31s\r\n`],
];
const TALK = [
  {
    timestamp: "2026-05-02T09:31:00Z",
    type: "user_message",
    role: "user",
    content: "Run `pytest -x tests/test_parse.py` and fix what is **red**.",
  },
  {
    timestamp: "2026-05-02T09:31:20Z",
    type: "assistant_message",
    role: "assistant",
    text: "The last line is lost when the file ends without a newline.\n\n- read the rest of the buffer\n- add a check",
    tool_calls: [{ tool_call_id: "1", tool_name: "bash", input_preview: "pytest -x tests/test_parse.py" }],
  },
  {
    timestamp: "2026-05-02T09:31:40Z",
    type: "tool_result",
    tool_call_id: "1",
    tool_name: "bash",
    output: "1 failed in 0.31s\nE   assert 2 == 3",
    is_error: true,
  },
];
const TRANSCRIPT =
  "# Parse a file\n$ parse a.txt\n  3 lines\n! warning: no newline at the end\n? 0\n$ parse --count a.txt\n  2\n? 1\n";
const SCREEN = `${ESC}[38;2;217;119;87m\u273b${ESC}[0m Published outcome and 1 commit\n\n> ${ESC}[2mNothing left to do${ESC}[0m\n`;

const usual = () => {
  begin(14, ["mngr", "tmr", "tests", "--max-parallel-agents", "8"]);
  const id = (name) => `tests/test_parse.py::${name}`;
  const fixes = ["keeps_the_last_line", "counts_lines", "reads_crlf"].map(id);
  fixes.forEach((task, index) => {
    queue(task);
    attempt(task, 1, path(1000 + index * 900, index * 14000), {
      said: outcome(
        "fixed",
        "The parser dropped the **last line** of a file without a newline.\n\nIt now reads the rest of the buffer; `src/parse.py` is two lines longer.",
        {
          changes: [{ kind: "FIX_IMPL", summary_markdown: "Read the rest of the buffer." }],
          escalations: [
            {
              kind: "UNCAUGHT_BUG",
              description_markdown: "The writer has the same gap.\n\nNo test covers it.",
              locations: [{ path: "src/write.py", line: 42 + index }],
            },
          ],
        },
      ),
      measured: PROVEN,
      commits: [commit(String(index + 1), "FIX_IMPL", ["src/parse.py"])],
      tokens: 48211 + index * 9000,
      cost: 0.31 + index * 0.1,
    });
    leave(task, 1, {
      screen: SCREEN,
      said: TALK,
      sessions: { "e2e/try_1": { transcript: TRANSCRIPT, casts: { "term.cast": cast(session) } } },
      files: { "notes.md": "x" },
    });
  });
  for (const [index, name] of ["rejects_tabs", "says_which_line"].entries()) {
    queue(id(name));
    attempt(id(name), 1, path(4000 + index * 1500, 8000), {
      said: outcome("fixed", "The expected text was outdated:\n\n```\nexpected: line 3\nfound:    line 4\n```", {
        changes: [{ kind: "FIX_TEST", summary_markdown: "Expect what the contract says." }],
      }),
      measured: { before: ["failed", [1, 1, 1]], after: ["passed", [0, 0, 0]], mutation: ["not_measurable", []] },
      commits: [commit("a", "FIX_TEST", ["tests/test_parse.py"])],
      tokens: 21000,
      cost: 0.12,
    });
  }
  queue(id("is_fast"));
  attempt(id("is_fast"), 1, path(6000, 30000, "unresolved", 95000), {
    said: outcome("escalated", "Two out of ten runs are slow, and nothing in the code explains it.", {
      tests_passing_after: null,
      escalations: [
        {
          kind: "HARNESS_DEFECT",
          description_markdown: "The clock of the fixture is shared by all tests.",
          locations: [{ path: "tests/conftest.py", line: 8 }],
        },
      ],
    }),
    tokens: 90210,
    cost: 0.88,
    evidence: "nothing was changed, and the test is red in 2 of 10 runs",
  });
  queue(id("talks_to_the_service"));
  attempt(
    id("talks_to_the_service"),
    1,
    [
      ["launching", 7000],
      ["working", 9900],
      ["published", 44000],
      ["pulled", 44300],
      ["blocked", 44400],
    ],
    {
      said: outcome("blocked", "There is no network where the test runs.", {
        reason: "The test needs a service at `localhost:9200`, and nothing starts one.",
        tests_passing_after: false,
        escalations: [
          { kind: "BLOCKER", description_markdown: "Nobody starts the service that these tests need.", locations: [] },
        ],
      }),
      evidence: "the agent says that it cannot go on",
      tokens: 15000,
      cost: 0.09,
    },
  );
  queue(id("says_it_passes"));
  attempt(id("says_it_passes"), 1, path(8000, 4000, "failed:verification", 71000), {
    said: outcome("fixed", "Everything is green now.", { changes: [{ kind: "FIX_TEST", summary_markdown: "Small fix." }] }),
    measured: { before: ["failed", [1, 1, 1]], after: ["failed", [1, 1, 1]] },
    commits: [commit("c", "FIX_TEST", ["src/parse.py", "tests/test_parse.py"], "FIX_IMPL")],
    evidence: "the agent says that the test passes, and it fails in 3 of 3 runs",
    tokens: 33000,
    cost: 0.2,
  });
  leave(id("says_it_passes"), 1, { screen: SCREEN, said: TALK });
  queue(id("breaks_another"));
  attempt(id("breaks_another"), 1, path(9000, 2000, "failed:gate", 280000), {
    said: outcome("fixed", "Rewrote the tokenizer.", { changes: [{ kind: "FIX_IMPL", summary_markdown: "New tokenizer." }] }),
    measured: PROVEN,
    commits: [commit("d", "FIX_IMPL", ["src/tokens.py"])],
    evidence: "`make lint` fails with it",
    tokens: 120000,
    cost: 1.4,
  });
  for (const name of ["starts_a", "starts_b", "starts_c"]) {
    queue(id(name));
    attempt(
      id(name),
      1,
      [
        ["launching", 12000],
        ["failed:launch", 13100],
      ],
      { evidence: "cannot create the worktree: no space left on device" },
    );
    attempt(
      id(name),
      2,
      [
        ["launching", 30000],
        ["failed:launch", 31000],
      ],
      { evidence: "cannot create the worktree: no space left on device" },
    );
  }
  queue(id("was_green"), "passing");
  attempt(id("was_green"), 0, [["clean", 900]], { evidence: "passes" });
  const step = (ms, name, fields) => journal.add(ms, "integration", { step: name, ...fields });
  step(270000, "started", { tasks: fixes });
  step(270001, "grouped", {
    tasks: fixes.slice(0, 2),
    path: "src/parse.py",
    votes: 2,
    hunks: 1,
    reason: "2 agents made the same change in `src/parse.py`",
  });
  step(270002, "ranked", { tasks: fixes.slice(0, 2), place: 1, points: 23, reason: "23: 2 test(s) unblocked +20, 2 vote(s) +3" });
  step(279000, "conflict", {
    tasks: [fixes[2]],
    with: [fixes[0]],
    files: ["src/parse.py"],
    reason: "does not fit beside other changes",
  });
  step(279001, "expelled", {
    tasks: [id("breaks_another")],
    kind: "gate",
    output: "lint: src/tokens.py:3 unused name\nmake: *** [lint] Error 1",
    reason: "`make lint` fails with exit code 2",
  });
  step(279002, "squashed", {
    tasks: [id("rejects_tabs"), id("says_which_line")],
    commit: "ab12".repeat(10),
    votes: 2,
    subject: "Tests and docs of 2 tasks",
  });
  step(279003, "picked", {
    tasks: fixes.slice(0, 2),
    commit: "cd34".repeat(10),
    votes: 2,
    subject: "[FIX_IMPL] Read the rest of the buffer",
    reason: "23: 2 test(s) unblocked +20, 2 vote(s) +3",
  });
  step(279004, "finished", { commit: "cd34".repeat(10), commits: 2 });
  journal.add(13200, "breaker", {
    state: "open",
    cluster: "launch: cannot create the worktree: no space left on device",
    reason: "3 in a row",
  });
  journal.add(31500, "breaker", {
    state: "closed",
    cluster: "launch: cannot create the worktree: no space left on device",
    reason: "a canary came through",
  });
  journal.add(240000, "budget", { limit: "cost", allowed: 5, used: 5.02 });
  journal.add(300000, "run_ended", { reason: "finished" });
  mkdirSync(join(root, "integrator", "attempt-1"), { recursive: true });
  writeFileSync(join(root, "integrator", "attempt-1", "screen.txt"), "resolved 1 conflict\n");
};

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)> [click](javascript:alert(3)) ${ESC}[2J${ESC}]0;owned\u0007 \u202etxt.exe \`a\` **b**`;
const hostile = () => {
  begin(3, ["mngr", "tmr", HOSTILE]);
  const id = "t/<img src=x onerror=alert(4)>::`$(touch x)`";
  queue(id);
  attempt(id, 1, path(1000, 0, null), {
    said: outcome(
      "fixed",
      `# ${HOSTILE}\n\n- ${HOSTILE}\n\n> ${HOSTILE}\n\n| ${HOSTILE} |\n\n\`\`\`\n${HOSTILE}\n\`\`\`\n<iframe src="javascript:alert(5)"></iframe>\n<svg onload=alert(6)>`,
      {
        changes: [{ kind: "FIX_IMPL", summary_markdown: HOSTILE }],
        test_runs: [{ run_name: HOSTILE, description_markdown: HOSTILE }],
        escalations: [{ kind: "BLOCKER", description_markdown: HOSTILE, locations: [{ path: "javascript:alert(7)", line: 1 }] }],
      },
    ),
    measured: PROVEN,
    commits: [{ ...commit("9", "FIX_IMPL", [HOSTILE]), subject: HOSTILE }],
    evidence: HOSTILE,
  });
  leave(id, 1, {
    screen: Buffer.concat([Buffer.from(HOSTILE), Buffer.from([0xff, 0xfe, 0x0a]), Buffer.from(`${ESC}[?1049h${ESC}[6n`)]),
    said: [
      { timestamp: HOSTILE, type: "user_message", content: HOSTILE },
      { type: "assistant_message", text: HOSTILE, tool_calls: [{ tool_name: HOSTILE, input_preview: HOSTILE }] },
      { type: "tool_result", tool_name: HOSTILE, output: HOSTILE + "x".repeat(300000), is_error: true },
    ],
    sessions: {
      "<img src=x onerror=alert(8)>": {
        transcript: `$ ${HOSTILE}\n  ${HOSTILE}\n? 0\n`,
        casts: { "<b>.cast": cast([[0.1, HOSTILE]]), "bad.cast": "nonsense" },
      },
    },
    files: { "<img src=x onerror=alert(9)>.html": "<script>alert(10)</script>" },
  });
  const other = "aaaa ".repeat(800).trim();
  queue(other);
  attempt(
    other,
    1,
    [
      ["launching", 2000],
      ["failed:dead", 3000],
    ],
    { evidence: "`*[".repeat(6000) + "(".repeat(20000) },
  );
  queue("many");
  attempt("many", 1, path(2000, 0, null), { said: outcome("fixed", "`*[(**".repeat(5000)) });
  journal.add(9000, "integration", { step: "started", tasks: [] });
  journal.add(9001, "integration", { step: "expelled", tasks: [id], reason: HOSTILE, output: HOSTILE });
  journal.add(9002, "breaker", { state: "open", cluster: HOSTILE, reason: HOSTILE });
};

const large = () => {
  const count = Number(process.env.TASKS || 500);
  begin(count, ["mngr", "tmr", "tests"]);
  for (let n = 0; n < count; n++) {
    const task = `e2e/${n}/test_area_${n % 25}.py::TestArea::test_that_it_does_what_the_tutorial_says`;
    queue(task);
    // All say the same, each shows something else.
    const prints = Array.from({ length: 20 }, (_, line) => [
      line,
      `${ESC}[3${line % 8}mtask ${n} line ${line} of what was printed${ESC}[0m\r\n`,
    ]);
    leave(task, 1, {
      screen: SCREEN,
      said: TALK,
      sessions: { try_1: { transcript: TRANSCRIPT, casts: { "term.cast": cast(prints) } } },
    });
    const from = 1000 + Math.floor(n / 20) * 60000 + (n % 20) * 300;
    const last = ["integrated", "integrated", "integrated", "failed:verification", "unresolved", null][n % 6];
    attempt(task, 1, path(from, (n * 7919) % 20000, last, 1700000), {
      said: outcome(
        "fixed",
        `Number ${n}: the program printed a warning that the tutorial does not have.\n\n- changed the message in \`src/area_${n % 25}.py\`\n- the test looks at the whole line now\n\nNothing else was touched.`,
        {
          changes: [{ kind: n % 2 ? "FIX_IMPL" : "FIX_TEST", summary_markdown: "Say it once." }],
        },
      ),
      measured: PROVEN,
      commits: [commit("5", n % 2 ? "FIX_IMPL" : "FIX_TEST", [`src/area_${n % 25}.py`])],
      tokens: 30000 + n * 17,
      cost: 0.2 + n / 1000,
      evidence: last?.startsWith("failed") ? "the agent says that the test passes, and it fails in 3 of 3 runs" : "",
    });
  }
  journal.add(1800000, "run_ended", { reason: "finished" });
};

({ usual, hostile, large })[kind]();
mkdirSync(root, { recursive: true });
journal.write(root);
