// Search over everything: names, messages, transcripts and the screens of recordings. Finds while it goes on.
"use strict";
(() => {
  const { el } = mngr;
  const PER_TEST = 8; // More places of one test are only counted.
  const MAX_TESTS = 300;
  const AHEAD = 12; // So many tests are fetched before they are searched.

  const fetchAhead = (test) => {
    for (const part of test ? ["map", "0"] : []) mngr.load(`test/${test.key}/rows/${part}`, test.version).catch(() => {});
  };

  // Every place in a test: {href, label, text}.
  async function* places(test, find) {
    for (const text of [test.name, test.file, test.brief, ...test.blocks]) {
      if (text && find(text) >= 0) {
        yield { href: mngr.place.test(test.run, test.folder), label: "test", text };
        break;
      }
    }
    const rows = `test/${test.key}/rows`;
    const { firsts } = await mngr.load(`${rows}/map`, test.version);
    for (let number = 0; number < firsts.length; number++) {
      const piece = await mngr.load(`${rows}/${number}`, test.version);
      for (const [index, row] of piece.rows.entries()) {
        const text = mngr.plain(row[3]);
        const at = find(text);
        if (at >= 0)
          yield {
            href: mngr.place.row(test.run, test.folder, piece.first + index),
            label: `line ${piece.first + index + 1}`,
            text: around(text, at),
          };
      }
      yield null; // A chance to stop.
    }
    if (!test.recordings) return;
    const { recordings } = await mngr.load(`test/${test.key}/test`, test.version);
    for (const [index, name] of recordings.entries()) yield* screens(test, index, name, find);
  }

  async function* screens(test, index, name, find) {
    const prefix = `test/${test.key}/cast${index}`;
    const { starts } = await mngr.load(`${prefix}/map`, test.version);
    const seen = new Set();
    for (let number = 0; number < starts.length; number++) {
      const { frames } = await mngr.load(`${prefix}/${number}`, test.version);
      for (const frame of frames) {
        for (const [, runs] of frame.l || []) {
          const text = mngr.plain(runs);
          const at = find(text);
          if (at < 0 || seen.has(text)) continue;
          if (seen.size < 10000) seen.add(text);
          yield {
            href: mngr.place.moment(test.run, test.folder, name, frame.t),
            label: `${name} ${mngr.clock(frame.t / 1000)}`,
            text: around(text, at),
          };
        }
      }
      yield null;
    }
  }

  const around = (text, at) => (at > 80 ? "\u2026" : "") + text.slice(Math.max(0, at - 80), at + 160).trim();

  const marked = (text, words) => {
    const at = mngr.finder(words)(text);
    return at < 0
      ? [text]
      : [text.slice(0, at), el("mark", { text: text.slice(at, at + words.length) }), text.slice(at + words.length)];
  };

  mngr.search = async (main, words, isCurrent) => {
    const results = el("div", { class: "results" });
    const progress = el("p", { class: "sum", role: "status" });
    document.title = `${words} \u00b7 mngr view`;
    mngr.replace(
      main,
      el(
        "nav",
        { class: "crumbs" },
        el("a", { href: mngr.place.list(), text: "All runs" }),
        " / ",
        el("span", { text: "Search" }),
      ),
      el("h1", { text: `\u201c${words}\u201d` }),
      progress,
      results,
    );
    const find = mngr.finder(words);
    const tests = words ? mngr.runs.tests() : [];
    let [found, total, breath] = [0, 0, performance.now()];
    tests.slice(0, AHEAD).forEach(fetchAhead);
    for (const [index, test] of tests.entries()) {
      fetchAhead(tests[index + AHEAD]);
      progress.textContent = `${mngr.count(total, "place")} so far, ${index} of ${tests.length} tests searched`;
      let list = null;
      let number = 0;
      try {
        for await (const place of places(test, find)) {
          if (performance.now() - breath > 12) {
            await new Promise((next) => setTimeout(next));
            breath = performance.now();
          }
          if (!isCurrent()) return;
          if (!place) continue;
          number++;
          total++;
          if (!list) {
            list = el("ul", { class: "places" });
            results.append(
              el(
                "section",
                { class: "result" },
                el(
                  "h2",
                  {},
                  el("a", { href: mngr.place.test(test.run, test.folder) }, mngr.status(test.status), ` ${test.name}`),
                  el("span", { class: "run-when", text: test.run }),
                ),
                list,
              ),
            );
            found++;
          }
          if (number <= PER_TEST) {
            list.append(
              el(
                "li",
                {},
                el(
                  "a",
                  { href: place.href, class: "result-link" },
                  el("span", { class: "place", text: place.label }),
                  el("code", {}, marked(place.text, words)),
                ),
              ),
            );
          }
        }
      } catch {
        // What cannot be loaded holds nothing to find.
      }
      if (number > PER_TEST) list.append(el("li", { class: "hint", text: `and ${mngr.count(number - PER_TEST, "more place")}` }));
      if (found >= MAX_TESTS) break;
    }
    progress.textContent = `${mngr.count(total, "place")} in ${mngr.count(found, "test")}${found >= MAX_TESTS ? " (and more)" : ""}`;
    if (!total) results.append(el("p", { class: "nothing", text: "Nothing was found." }));
  };
})();
