//! As much of HTTP/1.1 as the agents use: bodies with a length or in chunks, connections that are kept open.
//!
//! Only bytes: what a request means is decided elsewhere.

use std::io::{self, BufRead, Read, Write};

/// A request larger than this is a mistake. Agents send the whole conversation each time.
const MAX_BODY: u64 = 64 << 20;

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// With the query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Reads the next request; `None` when the other side has hung up between two of them.
pub(super) fn read_request(from: &mut impl BufRead) -> io::Result<Option<Request>> {
    let Some(first) = read_line(from)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(malformed("the request line has no path"));
    };
    let mut length = 0;
    let mut chunked = false;
    loop {
        let line = read_line(from)?.ok_or_else(|| malformed("the headers have no end"))?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().map_err(|_| malformed("the length is no number"))?;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = value.eq_ignore_ascii_case("chunked");
        }
    }
    let body = if chunked { read_chunks(from)? } else { read_exactly(from, length)? };
    Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), body }))
}

/// Writes an answer that is known as a whole.
pub(super) fn write_plain(
    to: &mut impl Write,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = head(status, headers);
    head.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len()));
    to.write_all(&[head.as_bytes(), body].concat())
}

/// Writes the beginning of a stream of events, whose pieces follow with [`write_chunk`].
pub(super) fn write_stream_head(to: &mut impl Write) -> io::Result<()> {
    let head = head(200, &[("content-type", "text/event-stream"), ("cache-control", "no-cache")]);
    to.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes())
}

/// Writes a piece of a stream. An empty piece is the end of it.
pub(super) fn write_chunk(to: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    to.write_all(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat())
}

fn head(status: u16, headers: &[(&str, &str)]) -> String {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        _ => "Unavailable",
    }
}

fn read_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(Some(line))
}

fn read_chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(from)?.ok_or_else(|| malformed("the chunks have no end"))?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| malformed("a chunk has no size"))?;
        if size == 0 {
            break;
        }
        body.extend(read_exactly(from, size)?);
        read_line(from)?;
    }
    // Trailers, which say nothing of interest, and the empty line after them.
    while read_line(from)?.is_some_and(|line| !line.is_empty()) {}
    Ok(body)
}

fn read_exactly(from: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(malformed("the body is too long"));
    }
    let mut body = Vec::new();
    if from.take(length).read_to_end(&mut body)? as u64 == length {
        Ok(body)
    } else {
        Err(malformed("the body is shorter than its length"))
    }
}

fn malformed(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, path: &str, body: &str) -> Request {
        Request { method: method.into(), path: path.into(), body: body.into() }
    }

    #[test]
    fn two_requests_on_one_connection() {
        let mut bytes: &[u8] =
            b"POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n\r\n";
        assert_eq!(read_request(&mut bytes).unwrap(), Some(request("POST", "/a?b=c", "abc")));
        assert_eq!(read_request(&mut bytes).unwrap(), Some(request("GET", "/", "")));
        assert_eq!(read_request(&mut bytes).unwrap(), None);
    }

    #[test]
    fn a_body_in_chunks_is_put_together_and_leaves_the_next_request() {
        let mut bytes: &[u8] = b"POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n\
            3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        assert_eq!(read_request(&mut bytes).unwrap(), Some(request("POST", "/", "abc0123456789")));
        assert_eq!(read_request(&mut bytes).unwrap(), Some(request("GET", "/", "")));
    }

    #[test]
    fn a_request_that_is_cut_off_is_an_error() {
        let cut: [&[u8]; 4] = [
            b"POST / HTTP/1.1\r\nContent-Le",
            b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"nonsense\r\n\r\n",
        ];
        for mut bytes in cut {
            assert!(read_request(&mut bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_stream_is_framed_so_that_its_end_is_known() {
        let mut bytes = Vec::new();
        for piece in ["data: one\n\n", "x", ""] {
            write_chunk(&mut bytes, piece.as_bytes()).unwrap();
        }
        assert_eq!(bytes, b"b\r\ndata: one\n\n\r\n1\r\nx\r\n0\r\n\r\n");
    }

    #[test]
    fn a_plain_answer_says_its_length() {
        let mut bytes = Vec::new();
        write_plain(&mut bytes, 429, &[("retry-after", "1")], b"{}").unwrap();
        let expected = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n\
                        content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
