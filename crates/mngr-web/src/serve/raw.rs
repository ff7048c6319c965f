//! Files of a test as they are: to be saved, never to be shown by the browser.

use std::ops::Range;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_model::HostPath;

/// So much is read at once.
const PIECE: u64 = 256 * 1024;

/// The file, or the part of it that is asked for, piece by piece.
pub(super) async fn send(host: Arc<dyn Host>, path: HostPath, name: &str, headers: &HeaderMap) -> Response {
    let stat = {
        let (host, path) = (host.clone(), path.clone());
        tokio::task::spawn_blocking(move || host.files().stat(&path)).await
    };
    let Ok(Ok(Some(stat))) = stat else { return StatusCode::NOT_FOUND.into_response() };
    let asked = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let Some(range) = asked.map_or(Some(0..stat.size), |asked| parse(asked, stat.size)) else {
        let whole = format!("bytes */{}", stat.size);
        return (StatusCode::RANGE_NOT_SATISFIABLE, [(header::CONTENT_RANGE, whole)]).into_response();
    };
    let mut answer = Response::builder()
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .header(header::CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", plain_name(name)))
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::CONTENT_LENGTH, range.end - range.start);
    if asked.is_some() {
        let last = range.end.saturating_sub(1);
        answer = answer
            .status(StatusCode::PARTIAL_CONTENT)
            .header(header::CONTENT_RANGE, format!("bytes {}-{last}/{}", range.start, stat.size));
    }
    let pieces = stream::unfold(range, move |rest| {
        let (host, path) = (host.clone(), path.clone());
        async move {
            if rest.is_empty() {
                return None;
            }
            let length = (rest.end - rest.start).min(PIECE);
            let read = tokio::task::spawn_blocking(move || {
                host.files().read_part(&path, rest.start, usize::try_from(length).unwrap_or(usize::MAX))
            });
            let bytes: Result<Vec<u8>, FilesError> = match read.await {
                Ok(read) => read,
                Err(_) => return None,
            };
            let next = match &bytes {
                // A file that has become shorter: the connection ends before what was promised.
                Ok(bytes) if bytes.is_empty() => return None,
                Ok(bytes) => rest.start + bytes.len() as u64..rest.end,
                Err(_) => rest.end..rest.end,
            };
            Some((bytes.map(Bytes::from), next))
        }
    });
    answer
        .body(Body::from_stream(pieces))
        .unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

/// `bytes=a-b`, `bytes=a-` or `bytes=-n` of a file of this size; nothing when it asks for what is not there.
fn parse(asked: &str, size: u64) -> Option<Range<u64>> {
    let (from, to) = asked.strip_prefix("bytes=")?.split_once('-')?;
    let range = match (from, to) {
        ("", last) => size.saturating_sub(last.parse().ok()?)..size,
        (from, "") => from.parse().ok()?..size,
        (from, to) => from.parse().ok()?..to.parse::<u64>().ok()?.saturating_add(1).min(size),
    };
    (range.start < range.end).then_some(range)
}

/// A name that needs no quoting.
fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_file_are_understood() {
        assert_eq!(parse("bytes=0-9", 100), Some(0..10));
        assert_eq!(parse("bytes=90-", 100), Some(90..100));
        assert_eq!(parse("bytes=-5", 100), Some(95..100));
        assert_eq!(parse("bytes=-500", 100), Some(0..100));
        assert_eq!(parse("bytes=50-999", 100), Some(50..100));
        for impossible in ["bytes=100-", "bytes=9-3", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6", "bytes=-0"] {
            assert_eq!(parse(impossible, 100), None, "{impossible}");
        }
    }
}
