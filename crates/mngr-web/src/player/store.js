// Pieces of data: loaded by script tags, so that a page from disk and one from a server do the same.
"use strict";
(() => {
  const KEPT = 96;
  const pieces = new Map(); // name -> {version, value}, the least used first
  const pending = new Map(); // name -> {version, promise, resolve}

  mngr.isServed = document.documentElement.dataset.delivery === "served";

  // Called by every piece.
  mngr.add = (name, value) => {
    const waiting = pending.get(name);
    if (waiting) waiting.resolve(value);
  };

  // The value of a piece. A version that differs from the one that is here is fetched anew.
  mngr.load = (name, version = "") => {
    const found = pieces.get(name);
    if (found && found.version === version) {
      pieces.delete(name);
      pieces.set(name, found);
      return Promise.resolve(found.value);
    }
    const waiting = pending.get(name);
    if (waiting && waiting.version === version) return waiting.promise;
    // Two scripts of one name at a time could not be told apart.
    if (waiting) return waiting.promise.catch(() => null).then(() => mngr.load(name, version));
    const entry = { version };
    entry.promise = new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const finish = () => {
        pending.delete(name);
        script.remove();
      };
      entry.resolve = (value) => {
        finish();
        pieces.set(name, { version, value });
        while (pieces.size > KEPT) pieces.delete(pieces.keys().next().value);
        resolve(value);
      };
      script.onerror = () => {
        finish();
        reject(new Error(`${name} cannot be loaded`));
      };
      script.onload = () => {
        if (pending.get(name) === entry) script.onerror();
      };
      script.src = `data/${name}.js` + (mngr.isServed ? `?v=${encodeURIComponent(version)}` : "");
      document.head.append(script);
    });
    pending.set(name, entry);
    return entry.promise;
  };

  // Calls back whenever something has changed, where there is a server to say so.
  mngr.onChange = (f) => {
    if (!mngr.isServed) return;
    let timer = null;
    const events = new EventSource("changes");
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(f, 100);
    };
    let hasBeenOpen = false;
    events.addEventListener("changed", again);
    // What happened while the line was down is not told again.
    events.addEventListener("open", () => {
      if (hasBeenOpen) again();
      hasBeenOpen = true;
    });
  };
})();
