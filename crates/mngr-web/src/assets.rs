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

/// Scripts in the order in which they are loaded, then styles.
pub(crate) const ASSETS: &[Asset] = &[
    script!("dom.js"),
    script!("store.js"),
    script!("router.js"),
    script!("runs.js"),
    script!("list.js"),
    script!("transcript.js"),
    script!("player.js"),
    script!("compare.js"),
    script!("search.js"),
    script!("test.js"),
    script!("keys.js"),
    script!("main.js"),
    Asset {
        path: "assets/page.css",
        content_type: "text/css; charset=utf-8",
        text: include_str!("player/page.css"),
    },
];

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
pub(crate) fn index(delivery: Delivery) -> String {
    let scripts = ASSETS.iter().filter(|asset| asset.path.ends_with(".js"));
    let tags: Vec<String> =
        scripts.map(|asset| format!("<script src=\"{}\" defer></script>", asset.path)).collect();
    let live = match delivery {
        Delivery::Served => "served",
        Delivery::Exported => "exported",
    };
    SHELL
        .replace("{policy}", &policy(delivery))
        .replace("{delivery}", live)
        .replace("{scripts}", &tags.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_nothing_inline_and_names_nobody_else() {
        for delivery in [Delivery::Served, Delivery::Exported] {
            let page = index(delivery);
            for forbidden in ["http:", "https:", "//", " on", "style=", "<style", "{"] {
                assert!(!page.contains(forbidden), "{forbidden} in {page}");
            }
        }
    }

    /// Text becomes markup only through one of these, so none may be there.
    #[test]
    fn no_script_makes_markup_or_code_of_text() {
        for asset in ASSETS {
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
