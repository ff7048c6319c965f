// Plays a recording: paints frames that were made of it in Rust. What frames mean is said in mngr-cast.
"use strict";
(() => {
  const { el } = mngr;
  const SPEEDS = [0.5, 1, 2, 4, 8, 16];
  const PAUSE = 1500; // A longer pause is cut to this, where pauses are skipped.
  const MAX_HITS = 500;
  const LINE = 1.25; // Height of a line, in its letters' size.

  mngr.Player = class {
    // A recording is {name, prefix, version, raw}: its pieces are called `<prefix>/<n>`, and `raw` is where a server has the file.
    // `onMoment(ms)` is told which moment since 1970 the viewer wants to see in the transcript, where there is one.
    constructor({ name, prefix, version, raw }, hooks) {
      Object.assign(this, { name, hooks, version, prefix });
      Object.assign(this, {
        map: null,
        time: 0,
        speed: 1,
        isPlaying: false,
        chunk: null,
        frame: -1,
        rows: [],
        size: [80, 24],
        cursor: null,
        hits: [],
      });
      this.#build(raw);
      this.resized = new ResizeObserver(() => this.#fit());
      this.resized.observe(this.frameBox);
      this.ready = this.#begin();
    }

    #build(raw) {
      const button = (label, text, f, extra = {}) =>
        el("button", { class: "control", "aria-label": label, title: label, text, on: { click: f }, ...extra });
      this.screen = el("div", { class: "screen-rows" });
      this.cursorMark = el("div", { class: "cursor", hidden: true });
      this.frameBox = el(
        "div",
        { class: "screen", role: "img", tabindex: "0", "aria-label": `Recording ${this.name}` },
        el("div", { class: "screen-inner" }, this.screen, this.cursorMark),
      );
      this.frameBox.addEventListener("click", () => this.toggle());
      this.play = button("Play", "\u25b6", () => this.toggle(), { class: "control play" });
      this.bar = el("input", {
        type: "range",
        class: "seekbar",
        min: "0",
        max: "1000",
        value: "0",
        step: "100",
        "aria-label": "Moment",
        on: { input: () => this.seek(Number(this.bar.value)) },
      });
      this.clock = el("output", { class: "clock", text: "0:00.0" });
      this.faster = el(
        "select",
        { class: "control speed", "aria-label": "Speed", on: { change: () => (this.speed = Number(this.faster.value)) } },
        SPEEDS.map((speed) => el("option", { value: speed, text: `${speed}\u00d7`, selected: speed === 1 })),
      );
      this.skip = el("input", { type: "checkbox", checked: true });
      this.find = el("input", {
        type: "search",
        class: "find",
        placeholder: "Find in the recording",
        "aria-label": "Find in the recording",
        on: {
          change: () => this.search(this.find.value),
          keydown: (event) => {
            if (event.key === "Enter" && this.find.value === this.searched) {
              event.preventDefault();
              this.nextHit(event.shiftKey ? -1 : 1);
            }
          },
        },
      });
      this.found = el("output", { class: "found" });
      this.markers = el("div", { class: "markers" });
      this.note = el("p", { class: "player-note", role: "status" });
      this.element = el(
        "section",
        { class: "player", "aria-label": `Recording ${this.name}`, "data-cast": this.name },
        el(
          "div",
          { class: "player-head" },
          el("h3", { text: this.name }),
          mngr.isServed && raw ? el("a", { class: "quiet", href: raw, text: "Save", "aria-label": `Save ${this.name}` }) : null,
        ),
        this.frameBox,
        el("div", { class: "controls" }, this.play, this.bar, this.clock),
        el(
          "div",
          { class: "controls second" },
          this.faster,
          el("label", { class: "control skip" }, this.skip, "Skip pauses"),
          this.hooks.onMoment
            ? button("Show this moment in the transcript", "Transcript", () => this.#toTranscript(), {
                class: "control text-button",
              })
            : null,
          // A terminal of 200 columns is small beside a transcript.
          document.fullscreenEnabled
            ? button("Full screen", "Full screen", () => this.#fullScreen(), { class: "control text-button" })
            : null,
          el(
            "span",
            { class: "finder" },
            this.find,
            button("Previous place found", "\u2191", () => this.nextHit(-1)),
            button("Next place found", "\u2193", () => this.nextHit(1)),
            this.found,
          ),
        ),
        this.markers,
        this.note,
      );
      this.element.addEventListener("keydown", (event) => this.#onKey(event));
    }

    async #begin() {
      this.note.textContent = "Loading\u2026";
      try {
        await this.#show(0);
        this.map = await mngr.load(`${this.prefix}/map`, this.version);
      } catch {
        this.note.textContent = "The recording cannot be loaded.";
        return;
      }
      const { duration_ms, markers, problem, exit } = this.map;
      this.bar.max = Math.max(1, duration_ms);
      this.note.textContent = problem
        ? `Shown as far as it can be read: ${problem}.`
        : exit
          ? `The program ended with ${exit}.`
          : "";
      mngr.replace(
        this.markers,
        (markers || []).slice(0, 50).map(([ms, label]) =>
          el("button", {
            class: "quiet marker",
            text: `${mngr.clock(ms / 1000)} ${label}`,
            on: { click: () => this.seek(ms) },
          }),
        ),
      );
      this.#tell();
      if (this.time > 0) await this.seek(this.time);
    }

    // When a moment since 1970 is shown, in milliseconds of the recording; nothing when it is not.
    momentOf(ms) {
      if (!this.map || !this.map.started_ms) return null;
      const at = ms - this.map.started_ms;
      return at >= -1000 && at <= this.map.duration_ms + 1000 ? Math.min(Math.max(0, at), this.map.duration_ms) : null;
    }

    toggle() {
      this.isPlaying ? this.pause() : this.start();
    }

    start() {
      if (this.map && this.time >= this.map.duration_ms) this.time = 0;
      this.isPlaying = true;
      this.#buttons();
      let before = performance.now();
      const step = async (now) => {
        if (!this.isPlaying) return;
        const passed = Math.min(250, now - before) * this.speed;
        before = now;
        let next = this.time + passed;
        const coming = this.#coming();
        if (this.skip.checked && coming !== null && coming - this.time > PAUSE) next = Math.max(next, coming - PAUSE * 0.2);
        if (this.map && next >= this.map.duration_ms) {
          next = this.map.duration_ms;
          this.pause();
        }
        await this.#show(next).catch(() => this.pause());
        if (this.isPlaying) requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }

    pause() {
      this.isPlaying = false;
      this.#buttons();
    }

    #buttons() {
      this.play.textContent = this.isPlaying ? "\u275a\u275a" : "\u25b6";
      this.play.setAttribute("aria-label", this.isPlaying ? "Pause" : "Play");
      this.play.title = this.isPlaying ? "Pause" : "Play";
    }

    async seek(ms) {
      const limit = this.map ? this.map.duration_ms : Infinity;
      await this.#show(Math.min(Math.max(0, ms), limit)).catch(() => {});
    }

    // When the next frame comes; nothing where that is not known.
    #coming() {
      const next = this.chunk?.frames[this.frame + 1];
      if (next) return next.t;
      return this.map?.starts[this.number + 1] ?? null;
    }

    // Brings the screen to a moment.
    async #show(time) {
      this.time = time;
      const ticket = (this.ticket = {});
      const number = this.map
        ? Math.max(
            0,
            mngr.last(this.map.starts, (start) => start <= time),
          )
        : this.number || 0;
      if (!this.chunk || number !== this.number) {
        const chunk = await mngr.load(`${this.prefix}/${number}`, this.version);
        if (ticket !== this.ticket) return; // Somebody wants another moment by now.
        [this.chunk, this.number, this.frame] = [chunk, number, -1];
      }
      const frames = this.chunk.frames;
      if (this.frame >= 0 && frames[this.frame] && frames[this.frame].t > time) this.frame = -1;
      // The first frame is a whole screen, also for what comes before it.
      while (this.frame + 1 < frames.length && (frames[this.frame + 1].t <= time || this.frame < 0))
        this.#apply(frames[++this.frame]);
      if (this.map && this.isPlaying && this.map.starts[number + 1] - time < 5000 * this.speed) {
        mngr.load(`${this.prefix}/${number + 1}`, this.version).catch(() => {});
      }
      this.#paint();
      this.#tell();
    }

    #apply(frame) {
      if (frame.s) {
        if (frame.s[0] !== this.size[0] || frame.s[1] !== this.size[1]) this.hasNewSize = true;
        this.size = frame.s;
        this.rows = Array.from({ length: frame.s[1] }, () => []);
      }
      if (frame.u)
        this.rows = [...this.rows.slice(frame.u), ...Array.from({ length: Math.min(frame.u, this.rows.length) }, () => [])];
      for (const [row, runs] of frame.l || []) this.rows[row] = runs;
      this.cursor = frame.c || null;
    }

    #paint() {
      const screen = this.screen;
      while (screen.children.length < this.size[1]) screen.append(el("div", { class: "screen-row" }));
      while (screen.children.length > this.size[1]) screen.lastChild.remove();
      this.painted ||= [];
      this.rows.forEach((runs, index) => {
        if (this.painted[index] === runs) return;
        mngr.replace(screen.children[index], runs.map(mngr.run));
        this.painted[index] = runs;
      });
      this.painted.length = this.size[1];
      this.cursorMark.hidden = !this.cursor;
      if (this.cursor) {
        this.cursorMark.style.left = `${this.cursor[0]}ch`;
        this.cursorMark.style.top = `${this.cursor[1] * LINE}em`;
      }
      if (this.hasNewSize || !this.hasFit) this.#fit();
      this.hasNewSize = false;
    }

    // The largest letters with which all columns fit.
    #fit() {
      const width = this.frameBox.clientWidth - 24;
      if (width <= 0) return;
      this.hasFit = true;
      const largest = document.fullscreenElement === this.element ? 24 : 15;
      const size = Math.max(4, Math.min(largest, Math.floor((width / (this.size[0] * 0.603)) * 10) / 10));
      this.frameBox.style.fontSize = `${size}px`;
    }

    #tell() {
      const end = this.map ? mngr.clock(this.map.duration_ms / 1000) : "\u2026";
      this.clock.textContent = `${mngr.clock(this.time / 1000)} / ${end}`;
      this.bar.value = this.time;
      this.bar.setAttribute("aria-valuetext", mngr.clock(this.time / 1000));
    }

    #toTranscript() {
      if (this.map?.started_ms) this.hooks.onMoment?.(this.map.started_ms + this.time);
    }

    #fullScreen() {
      document.fullscreenElement ? document.exitFullscreen() : this.element.requestFullscreen();
    }

    // All moments at which a text appears.
    async search(words) {
      this.searched = words;
      this.hits = [];
      this.hit = -1;
      if (!words) return void (this.found.textContent = "");
      await this.ready;
      if (!this.map) return;
      const find = mngr.finder(words);
      let shown = new Map();
      for (let number = 0; number < this.map.starts.length && this.hits.length < MAX_HITS; number++) {
        this.found.textContent = `${Math.floor((100 * number) / this.map.starts.length)} %`;
        const { frames } = await mngr.load(`${this.prefix}/${number}`, this.version);
        if (this.searched !== words) return;
        for (const frame of frames) {
          const now = frame.s ? new Map() : new Map([...shown].map(([row, text]) => [row - (frame.u || 0), text]));
          let isNew = false;
          for (const [row, runs] of frame.l || []) {
            const text = mngr.plain(runs);
            const is = find(text) >= 0;
            // A whole screen repeats what is there already.
            if (is && ![...shown.values()].some((old) => find(old) >= 0 && old === text)) isNew = true;
            is ? now.set(row, text) : now.delete(row);
          }
          shown = now;
          if (isNew) this.hits.push(frame.t);
        }
      }
      const sum = this.hits.length >= MAX_HITS ? `${MAX_HITS}+` : this.hits.length;
      this.found.textContent = this.hits.length ? `${sum} found` : "nothing found";
      if (this.hits.length) this.nextHit(1);
    }

    nextHit(step) {
      if (!this.hits.length) return;
      this.pause();
      this.hit = (this.hit + step + this.hits.length) % this.hits.length;
      this.found.textContent = `${this.hit + 1} of ${this.hits.length}`;
      this.seek(this.hits[this.hit]);
    }

    #onKey(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input[type=search]")) return;
      const isButton = event.target.matches("button");
      const keys = {
        " ": () => !isButton && this.toggle(),
        ArrowLeft: () => this.seek(this.time - 5000),
        ArrowRight: () => this.seek(this.time + 5000),
        ">": () => this.#changeSpeed(1),
        "<": () => this.#changeSpeed(-1),
        t: () => this.#toTranscript(),
        f: () => this.#fullScreen(),
      };
      if (!(event.key in keys) || (event.key === " " && isButton)) return;
      event.preventDefault();
      event.stopPropagation();
      keys[event.key]();
    }

    #changeSpeed(step) {
      const at = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + step));
      this.speed = SPEEDS[at];
      this.faster.value = String(this.speed);
    }

    close() {
      this.pause();
      this.searched = null;
      this.resized.disconnect();
    }
  };
})();
