//! What is answered to which address.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use mngr_model::artifacts::{TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE};

use super::gate;
use super::raw;
use super::site::Site;
use super::workshop::{Part, Wanted};
use crate::assets::{Delivery, VIEW, index};
use crate::catalogue::{Key, Test};
use crate::pages::{self, Comparable, Piece};

/// All routes, behind the gate.
pub(super) fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/assets/{name}", get(asset))
        .route("/data/{*name}", get(data))
        .route("/raw/{test}/{name}", get(file))
        .route("/changes", get(changes))
        .layer(middleware::from_fn_with_state(site.clone(), gate::keep))
        .with_state(site)
}

async fn page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], index(&VIEW, Delivery::Served)).into_response()
}

async fn asset(Path(name): Path<String>) -> Response {
    match VIEW.assets.iter().find(|asset| asset.path.strip_prefix("assets/") == Some(&name)) {
        Some(asset) => ([(header::CONTENT_TYPE, asset.content_type)], asset.text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// One of the names in [`pages`].
#[derive(Debug, PartialEq, Eq)]
enum Name<'a> {
    Runs,
    Run(&'a str),
    Test(&'a str),
    Part(&'a str, Part, Wanted),
    Diff { new: &'a str, old: &'a str },
}

impl<'a> Name<'a> {
    fn parse(path: &'a str) -> Option<Self> {
        let words: Vec<&str> = path.strip_suffix(".js")?.split('/').collect();
        let number =
            |word: &str| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten();
        match words.as_slice() {
            ["runs"] => Some(Self::Runs),
            ["run", run] if Key::looks_like(run) => Some(Self::Run(run)),
            ["test", test, "test"] if Key::looks_like(test) => Some(Self::Test(test)),
            ["test", new, "diff", old] if Key::looks_like(new) && Key::looks_like(old) => {
                Some(Self::Diff { new, old })
            }
            ["test", test, part, piece] if Key::looks_like(test) => {
                let part = match *part {
                    "rows" => Part::Rows,
                    part => Part::Cast(number(part.strip_prefix("cast")?)?),
                };
                let wanted = if *piece == "map" { Wanted::Map } else { Wanted::Number(number(piece)?) };
                Some(Self::Part(test, part, wanted))
            }
            _ => None,
        }
    }
}

async fn data(State(site): State<Arc<Site>>, Path(name): Path<String>) -> Response {
    let script = match Name::parse(&name) {
        Some(name) => script(&site, name).await,
        None => None,
    };
    match script {
        Some(script) => ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], script).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn script(site: &Arc<Site>, name: Name<'_>) -> Option<Vec<u8>> {
    let catalogue = site.catalogue();
    let text = |piece: Piece| Some(piece.script.into_bytes());
    match name {
        Name::Runs => text(pages::runs(&catalogue, &site.title)),
        Name::Run(run) => text(pages::run(catalogue.run(run)?)),
        Name::Test(test) => text(pages::test(catalogue.test(test)?, &Comparable::Any)),
        Name::Part(test, part, wanted) => {
            let test = catalogue.test(test)?;
            if matches!(part, Part::Cast(number) if number >= test.recordings.len()) {
                return None;
            }
            site.workshop.piece(test, part, wanted).await
        }
        Name::Diff { new, old } => {
            let (new, old) = (catalogue.test(new)?.clone(), catalogue.test(old)?.clone());
            let host = site.host.clone();
            let compared = tokio::task::spawn_blocking(move || pages::compare(host.files(), &old, &new));
            text(compared.await.ok()?.ok()?)
        }
    }
}

async fn file(
    State(site): State<Arc<Site>>,
    Path((test, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match site.catalogue().test(&test) {
        Some(test) if offers(test, &name) => {
            raw::send(site.host.clone(), test.folder.join(&name), &name, &headers).await
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Only what the catalogue found, so that a name cannot lead anywhere else.
fn offers(test: &Test, name: &str) -> bool {
    let is_transcript =
        test.transcript.is_some() && [TRANSCRIPT_LINES_FILE, TRANSCRIPT_TEXT_FILE].contains(&name);
    is_transcript || test.recordings.iter().any(|recording| recording == name)
}

/// An event for every change of the catalogue.
async fn changes(State(site): State<Arc<Site>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(site.changes(), |mut changes| async move {
        changes.changed().await.ok()?;
        let count = *changes.borrow_and_update();
        Some((Ok(Event::default().event("changed").data(count.to_string())), changes))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_pieces_are_names() {
        let key = "0123456789abcdef";
        assert_eq!(Name::parse("runs.js"), Some(Name::Runs));
        let path = format!("test/{key}/cast2/17.js");
        assert_eq!(Name::parse(&path), Some(Name::Part(key, Part::Cast(2), Wanted::Number(17))));
        let path = format!("test/{key}/rows/map.js");
        assert_eq!(Name::parse(&path), Some(Name::Part(key, Part::Rows, Wanted::Map)));
        for path in [
            "runs",
            "../runs.js",
            "run/..js",
            "test/../../etc/passwd.js",
            "run/0123456789ABCDEF.js",
            "run/%2e%2e.js",
            &format!("test/{key}/rows/-1.js"),
            &format!("test/{key}/rows/+1.js"),
            &format!("test/{key}/cast/1.js"),
            &format!("test/{key}/rows/../map.js"),
            &format!("test/{key}/cast99999999999999999999/0.js"),
        ] {
            assert_eq!(Name::parse(path), None, "{path}");
        }
    }
}
