// The runs and tests that are known by now.
"use strict";
(() => {
  const runs = { title: "", all: [], byRun: new Map(), isComplete: false };
  mngr.runs = runs;

  // Loads what has changed, newest run first; calls `progress` whenever there is more to show.
  runs.refresh = async (progress) => {
    const stamp = String(Date.now());
    const { title, runs: list } = await mngr.load("runs", stamp);
    runs.title = title;
    runs.isComplete = false;
    const before = runs.byRun;
    runs.byRun = new Map();
    runs.all = list;
    for (const run of list) {
      const old = before.get(run.key);
      if (old) runs.byRun.set(run.key, old);
    }
    let shown = performance.now();
    for (const run of list) {
      const old = before.get(run.key);
      if (old && old.version === run.version) continue;
      try {
        const { tests } = await mngr.load(`run/${run.key}`, run.version);
        for (const test of tests) test.run = run.name;
        runs.byRun.set(run.key, { ...run, tests });
      } catch {
        continue; // It has gone since.
      }
      if (performance.now() - shown > 200) {
        progress();
        shown = performance.now();
      }
    }
    runs.isComplete = true;
    progress();
  };

  runs.list = () => runs.all.map((run) => runs.byRun.get(run.key)).filter((run) => run);
  runs.tests = () => runs.list().flatMap((run) => run.tests);
  runs.find = (run, folder) => runs.tests().find((test) => test.run === run && test.folder === folder);
  runs.byKey = (key) => runs.tests().find((test) => test.key === key);
  // All tries of the same test, newest first.
  runs.tries = (test) =>
    runs
      .tests()
      .filter((other) => other.id === test.id)
      .sort((a, b) => (b.started_ms || 0) - (a.started_ms || 0));
})();
