//! The fixed part of the page: its shell, scripts and styles. Written here, nothing fetched, nothing inline.
//!
//! The shell knows nothing of tests: what it shows is decided by the scripts and by the data they load, so that another
//! page can stand on it.

/// A fixed file of the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    /// Its path below the page.
    pub(crate) path: &'static str,
    /// What it is.
    pub(crate) content_type: &'static str,
    /// What is in it.
    pub(crate) text: &'static str,
}

macro_rules! style {
    ($name:literal) => {
        Asset {
            path: concat!("assets/", $name),
            content_type: "text/css; charset=utf-8",
            text: include_str!(concat!("player/", $name)),
        }
    };
}

/// How the page was opened, which decides what it may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// By our server: new tests are announced.
    Served,
    /// From a folder: nothing but its own scripts.
    Exported,
}

macro_rules! script {
    ($name:literal) => {
        Asset {
            path: concat!("assets/", $name),
            content_type: "text/javascript; charset=utf-8",
            text: include_str!(concat!("player/", $name)),
        }
    };
}

const STYLES: Asset = style!("page.css");

/// A page: what stands in its title, and its files in the order in which they are loaded.
#[derive(Debug)]
pub(crate) struct Page {
    /// Its title until its scripts know a better one.
    pub(crate) title: &'static str,
    /// Its fixed files.
    pub(crate) assets: &'static [Asset],
}

/// All runs and tests below a folder.
pub(crate) const VIEW: Page = Page {
    title: "mngr view",
    assets: &[
        script!("dom.js"),
        script!("store.js"),
        script!("frame.js"),
        script!("router.js"),
        script!("runs.js"),
        script!("list.js"),
        script!("transcript.js"),
        script!("player.js"),
        script!("evidence.js"),
        script!("compare.js"),
        script!("search.js"),
        script!("test.js"),
        script!("keys.js"),
        script!("main.js"),
        STYLES,
    ],
};

/// One run of the test map-reduce.
pub(crate) const REPORT: Page = Page {
    title: "mngr tmr",
    assets: &[
        script!("dom.js"),
        script!("store.js"),
        script!("frame.js"),
        script!("transcript.js"),
        script!("player.js"),
        script!("evidence.js"),
        script!("markdown.js"),
        script!("report/words.js"),
        script!("report/rows.js"),
        script!("report/head.js"),
        script!("report/integration.js"),
        script!("report/timeline.js"),
        script!("report/attempt.js"),
        script!("report/panel.js"),
        script!("report/main.js"),
        STYLES,
        style!("report/report.css"),
    ],
};

const SHELL: &str = include_str!("templates/shell.html");

/// What the browser may do for the page: its own scripts and styles, and nothing that anybody else wrote.
pub(crate) fn policy(delivery: Delivery) -> String {
    let connect = match delivery {
        Delivery::Served => "'self'",
        Delivery::Exported => "'none'",
    };
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src {connect}; \
         base-uri 'none'; form-action 'none'"
    )
}

/// `index.html`.
pub(crate) fn index(page: &Page, delivery: Delivery) -> String {
    let tag = |path: &str| match path.ends_with(".css") {
        true => format!("<link rel=\"stylesheet\" href=\"{path}\">"),
        false => format!("<script src=\"{path}\" defer></script>"),
    };
    let tags: Vec<String> = page.assets.iter().map(|asset| tag(asset.path)).collect();
    let live = match delivery {
        Delivery::Served => "served",
        Delivery::Exported => "exported",
    };
    SHELL
        .replace("{policy}", &policy(delivery))
        .replace("{delivery}", live)
        .replace("{title}", page.title)
        .replace("{assets}", &tags.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_nothing_inline_and_names_nobody_else() {
        let pages = [(VIEW, Delivery::Served), (VIEW, Delivery::Exported), (REPORT, Delivery::Exported)];
        for (page, delivery) in pages {
            let page = index(&page, delivery);
            for forbidden in ["http:", "https:", "//", " on", "style=", "<style", "{"] {
                assert!(!page.contains(forbidden), "{forbidden} in {page}");
            }
        }
    }

    /// Text becomes markup only through one of these, so none may be there.
    #[test]
    fn no_script_makes_markup_or_code_of_text() {
        for asset in VIEW.assets.iter().chain(REPORT.assets) {
            for forbidden in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "http:",
                "https:",
            ] {
                assert!(!asset.text.contains(forbidden), "{forbidden} in {}", asset.path);
            }
        }
    }
}
