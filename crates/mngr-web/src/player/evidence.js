// What a test left behind: its transcript and its recordings side by side, each leading to the moment the other shows.
"use strict";
(() => {
  const { el } = mngr;

  // Takes {transcript, recordings, version, raw, row, moment}: the prefix of the transcript's pieces (nothing: there is none),
  // recordings as a player takes them, where a server has the transcript, and the addresses of a row and of a moment, where
  // places in the page have some.
  mngr.evidence = ({ transcript: prefix, recordings, version, raw, row, moment }) => {
    const players = [];
    const covering = (ms) => players.find((player) => player.momentOf(ms) !== null);
    const rename = (address) => address && mngr.rename(address);
    let starts = []; // The rows of the commands.
    const transcript = prefix
      ? new mngr.Transcript(prefix, version, {
          address: (at) => row?.(at) ?? "",
          covers: (ms) => Boolean(covering(ms)),
          seek: (ms) => {
            const player = covering(ms);
            player.pause();
            player.seek(player.momentOf(ms));
            player.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
            rename(moment?.(player.name, player.momentOf(ms)));
          },
          onMap: (map) => {
            starts = map.commands.map((command) => command.row);
            commands.hidden = starts.length < 2;
          },
        })
      : null;
    const jump = (step) => {
      if (!transcript) return;
      const at = mngr.last(starts, (start) => start <= transcript.chosen);
      const isInside = step < 0 && starts[at] < transcript.chosen;
      const next = starts[Math.min(starts.length - 1, Math.max(0, at + (isInside ? 0 : step)))];
      if (next === undefined) return;
      transcript.show(next);
      rename(row?.(next));
    };
    const arrow = (text, step, label, key) =>
      el("button", { class: "control", text, "aria-label": label, title: `${label} (${key})`, on: { click: () => jump(step) } });
    const commands = el(
      "span",
      { class: "jump", hidden: true },
      arrow("\u2191", -1, "Previous command", "k"),
      arrow("\u2193", 1, "Next command", "j"),
    );
    const hooks = transcript ? { onMoment: (ms) => transcript.showMoment(ms) } : {};
    for (const recording of recordings) players.push(new mngr.Player({ version, ...recording }, hooks));
    // Which rows have a moment in a recording is known only now.
    Promise.all(players.map((player) => player.ready)).then(() => transcript?.repaint());
    const save =
      mngr.isServed && raw ? el("a", { class: "quiet", href: raw, text: "Save", "aria-label": "Save the transcript" }) : null;
    const element = el(
      "div",
      { class: `evidence${transcript && players.length ? " with-players" : ""}` },
      transcript
        ? el(
            "section",
            { class: "panel", "aria-label": "Transcript" },
            el("div", { class: "panel-head" }, el("h2", { text: "Transcript" }), commands, save),
            transcript.element,
          )
        : null,
      players.length
        ? el(
            "section",
            { class: "players", "aria-label": "Recordings" },
            el("h2", { class: "unseen", text: mngr.count(players.length, "recording") }),
            players.map((player) => player.element),
          )
        : null,
    );
    const close = () => {
      transcript?.close();
      players.forEach((player) => player.close());
    };
    return { transcript, players, jump, element, close };
  };
})();
