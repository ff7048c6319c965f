// Places in the page, as addresses: #/run/test, #/run/test/L12, #/run/test/x.cast@3.5, #?words, #=new=old.
"use strict";
(() => {
  const encode = (text) => encodeURIComponent(text);
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  mngr.place = {
    list: () => "#/",
    test: (run, folder) => `#/${encode(run)}/${encode(folder)}`,
    row: (run, folder, row) => `#/${encode(run)}/${encode(folder)}/L${row + 1}`,
    moment: (run, folder, cast, ms) => `#/${encode(run)}/${encode(folder)}/${encode(cast)}@${(ms / 1000).toFixed(1)}`,
    search: (words) => `#?${encode(words)}`,
    compare: (key, other) => `#=${key}=${other}`,
  };

  mngr.route = () => {
    const hash = location.hash.slice(1);
    if (hash.startsWith("?")) return { view: "search", words: decode(hash.slice(1)) };
    if (hash.startsWith("=")) {
      const [key, other] = hash.slice(1).split("=");
      return { view: "compare", key, other };
    }
    const [, run, folder, ...rest] = hash.split("/");
    if (!run || !folder) return { view: "list" };
    const place = { view: "test", run: decode(run), folder: decode(folder) };
    const spot = rest.join("/");
    const row = /^L(\d+)$/.exec(spot);
    const moment = /^(.*)@([\d.]+)$/.exec(spot);
    if (row) place.row = Math.max(0, Number(row[1]) - 1);
    else if (moment) [place.cast, place.ms] = [decode(moment[1]), Number(moment[2]) * 1000];
    return place;
  };

  mngr.go = (address) =>
    location.hash === address ? dispatchEvent(new HashChangeEvent("hashchange")) : (location.hash = address);
})();
