// Writes artifacts as end-to-end tests leave them. usage: node fixture.mjs KIND FOLDER
// KIND: usual (three runs), hostile (text that wants to be more), large (100 MB transcript and recording).
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";

const [, , kind, root] = process.argv;
const line = (value) => JSON.stringify(value) + "\n";
const ESC = "\u001b";

const record = (run, day, test) => {
  const folder = join(root, run, test.folder);
  mkdirSync(folder, { recursive: true });
  const started = Date.UTC(2026, 4, day, 9, 30, 0);
  const base = {
    schema: 1,
    id: `${test.file}::${test.name}`,
    name: test.name,
    file: test.file,
    line: 12,
    status: test.status,
    started_at: new Date(started).toISOString(),
    ended_at: new Date(started + (test.ms || 0)).toISOString(),
    duration_ms: test.ms,
    blocks: (test.blocks || []).map((text) => ({ text, title: text.split("\n")[0].replace(/^# /, "") })),
    try: test.try || 1,
    recordings: Object.keys(test.casts || {}),
    docstring: test.docstring,
    message: test.message,
  };
  writeFileSync(join(folder, "test.json"), JSON.stringify(base));
  let events = "";
  let time = started;
  (test.commands || []).forEach(({ command, comment, out = "", err = "", code = 0, ms = 400, recording }, index) => {
    const id = index + 1;
    events += line({
      kind: "command",
      id,
      time,
      command,
      comment,
      cwd: "/tmp/e2e-00aa11bb",
      env: { set: {}, unset: [] },
      recording,
    });
    if (out) events += line({ kind: "output", id, time: time + ms / 2, stream: "stdout", text: out });
    if (err) events += line({ kind: "output", id, time: time + ms / 2, stream: "stderr", text: err });
    time += ms;
    events += line({ kind: "end", id, time, exit_code: code, timed_out: false, duration_ms: ms });
  });
  writeFileSync(join(folder, "transcript.jsonl"), events);
  writeFileSync(join(folder, "transcript.txt"), "");
  for (const [name, prints] of Object.entries(test.casts || {})) {
    const header = { version: 2, width: 80, height: 24, timestamp: started / 1000, mngr: { started_ms: started } };
    writeFileSync(join(folder, name), line(header) + prints.map(([at, text, code = "o"]) => line([at, code, text])).join(""));
  }
};

const GREEN = `${ESC}[32m`,
  RED = `${ESC}[1;31m`,
  BLUE = `${ESC}[34m`,
  OFF = `${ESC}[0m`;
const session = [
  [0.2, `${GREEN}you@host${OFF} ${BLUE}~/shop${OFF} $ `],
  [0.6, "mngr create fix-login claude\r\n"],
  [1.5, `Created ${ESC}[1mfix-login${OFF} on branch ${GREEN}mngr/fix-login${OFF}\r\n`],
  [2.0, "first prompt sent", "m"],
  [2.4, `\r\n${ESC}[38;2;217;119;87m\u273b${OFF} Reading src/login.rs\u2026\r\n`],
  [3.2, `${ESC}[38;5;244m  \u2514 214 lines${OFF}\r\n`],
  [9.0, `${RED}error${OFF}: the session cookie is set twice\r\n`],
  [9.6, `${GREEN}\u25cf${OFF} Fixed it in ${ESC}[4msrc/login.rs${OFF}: \u4f60\u597d \r\n`],
  [10.2, "\r\n> "],
];
const BLOCK = "# Create an agent and list it\nmngr create fix-login claude --no-connect\nmngr list";

const usual = () => {
  const login = (status, message, out) => ({
    folder: "test_create--creates_an_agent",
    name: "creates_an_agent",
    file: "tests/e2e/test_create.py",
    status,
    ms: 2140,
    message,
    blocks: [BLOCK],
    docstring:
      "An agent is created in a worktree of its own and shows up in the list.\n\nTutorial block: Create an agent and list it",
    commands: [
      {
        command: "mngr create fix-login claude --no-connect",
        comment: "an agent without a terminal",
        out: `Created ${ESC}[1mfix-login${OFF}\n`,
        recording: "fix-login.cast",
        ms: 1500,
      },
      { command: "mngr list \\\n  --format '{name} {state}'", out, ms: 300 },
      {
        command: "mngr list --nonsense",
        err: `${RED}error${OFF}: unexpected argument '--nonsense'\nhint: mngr list --help\n`,
        code: 2,
        ms: 40,
      },
    ],
    casts: { "fix-login.cast": session },
  });
  const others = (failing) => [
    {
      folder: "test_message--sends_text",
      name: "sends_text",
      file: "tests/e2e/test_message.py",
      status: "passed",
      ms: 840,
      blocks: ["# Tell an agent something\nmngr message fix-login 'go on'"],
      commands: [{ command: "mngr message fix-login 'go on'", out: "Sent\n" }],
    },
    {
      folder: "test_pull--merges",
      name: "merges_a_branch_with_a_name_so_long_that_it_has_to_be_broken_somewhere_on_a_phone",
      file: "tests/e2e/test_pull.py",
      status: failing ? "error" : "passed",
      ms: 61200,
      message: failing ? "fixture `repo` could not be made: No space left on device" : undefined,
      commands: [{ command: "mngr pull fix-login --merge", out: "Merged 3 commits\n" }],
    },
    {
      folder: "test_undo--brings_back",
      name: "brings_back_what_was_destroyed",
      file: "tests/e2e/test_undo.py",
      status: "skipped",
      ms: 3,
      message: "needs docker",
      commands: [],
    },
    {
      folder: "test_wait--waits",
      name: "waits_until_done",
      file: "tests/e2e/test_wait.py",
      status: failing ? "running" : "passed",
      ms: failing ? undefined : 5100,
      commands: [{ command: "mngr wait fix-login --state DONE", out: "DONE\n" }],
    },
  ];
  record("2026-05-01_09-30-00", 1, login("passed", undefined, "fix-login RUNNING\n"));
  others(false).forEach((test) => record("2026-05-01_09-30-00", 1, test));
  const message =
    "AssertionError: expected output to contain \"RUNNING\"\n\n$ mngr list --format '{name} {state}'\nexit code 0\n--- stdout\nfix-login STOPPED\n--- stderr\n(empty)";
  record("2026-05-02_09-30-00", 2, login("failed", message, "fix-login STOPPED\n"));
  others(true).forEach((test) => record("2026-05-02_09-30-00", 2, test));
  record("before-the-fix", 3, {
    ...login("failed", message, `fix-login ${RED}STOPPED${OFF}\nwarning: the agent ended at once\n`),
    try: 2,
  });
  const old = join(root, "2025-12-24_18-00-00", "test_old_runner");
  mkdirSync(old, { recursive: true });
  writeFileSync(join(old, "transcript.txt"), `# an older runner\n$ mngr list\n  ${GREEN}nothing${OFF}\n! a warning\n? 0\n`);
  writeFileSync(join(old, "docstring.txt"), "Only text is here.\n");
};

const hostile = () => {
  const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)><style>*{display:none}</style>\u2028\u2029"'\`\${alert(3)}{{7*7}}]]><!--`;
  const escapes = `${ESC}]52;c;aGFja2Vk\u0007${ESC}]8;;http://evil.example/\u0007link${ESC}]8;;\u0007${ESC}[6n${ESC}[2J${ESC}P+q544e${ESC}\\\u009b6n\u202emoc.live\u0000`;
  record(`run ${evil.replaceAll("/", "_").slice(0, 60)}`, 1, {
    folder: `x'"<img src=x onerror=alert(4)>#?%2e%2e&`,
    name: evil,
    file: `javascript:alert(5)//${evil}`,
    status: "failed",
    ms: 5,
    message: evil + escapes,
    blocks: [`# ${evil}\n${evil}`],
    docstring: evil,
    commands: [
      {
        command: evil + escapes,
        comment: evil,
        out: `${evil}${escapes}\n${ESC}[31${";1".repeat(5000)}mred\n`,
        err: evil + "\n",
        code: 1,
      },
    ],
    casts: {
      [`"><img src=x onerror=alert(6)>.cast`]: [
        [0.1, evil + "\r\n"],
        [0.2, escapes],
        [0.3, evil, "m"],
        [0.5, `${ESC}[8;9999;9999t${ESC}[999999999Bx`],
      ],
    },
  });
};

const large = async () => {
  const folder = join(root, "run", "large");
  mkdirSync(folder, { recursive: true });
  const started = Date.UTC(2026, 4, 1);
  writeFileSync(
    join(folder, "test.json"),
    JSON.stringify({
      schema: 1,
      id: "large",
      name: "large",
      file: "large.rs",
      status: "passed",
      started_at: new Date(started).toISOString(),
      duration_ms: 1000,
      recordings: ["large.cast"],
    }),
  );
  const write = async (name, make) => {
    const file = createWriteStream(join(folder, name));
    let [size, number] = [0, 0];
    while (size < 100e6) {
      const text = make(number++);
      size += text.length;
      if (!file.write(text)) await once(file, "drain");
    }
    file.end();
    await once(file, "close");
    return number;
  };
  const rows = (number) =>
    Array.from(
      { length: 500 },
      (_, n) =>
        `${ESC}[3${n % 8}mline ${number * 500 + n}${ESC}[0m of a flood that goes on and on, with words to fill the line\n`,
    ).join("");
  const count = await write(
    "transcript.jsonl",
    (number) =>
      (number === 0 ? line({ kind: "command", id: 1, time: started, command: "flood", cwd: "/" }) : "") +
      line({ kind: "output", id: 1, time: started + number, stream: "stdout", text: rows(number) }),
  );
  const screens = (number) =>
    line([
      number / 20,
      "o",
      Array.from(
        { length: 60 },
        (_, n) => `${ESC}[3${n % 8}mline ${number * 60 + n} of the flood${ESC}[0m and some more words\r\n`,
      ).join(""),
    ]);
  await write(
    "large.cast",
    (number) =>
      (number === 0 ? line({ version: 2, width: 100, height: 30, mngr: { started_ms: started } }) : "") + screens(number),
  );
  process.stdout.write(JSON.stringify({ rows: count * 500 + 1 }) + "\n");
};

await { usual, hostile, large }[kind]();
