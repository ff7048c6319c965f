//! Who is answered: this user's browser, asked by our own page.
//!
//! Other users of the machine and other pages in the browser can reach the port too. The former lack the token. The
//! latter cannot read answers, but could load our pieces as scripts: so a request has to come from our own page. A name
//! that was made to point to 127.0.0.1 (DNS rebinding) is not ours.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::site::Site;
use crate::assets::{Delivery, policy};

/// The token, and where it is valid.
pub(super) struct Gate {
    port: u16,
    token: String,
}

impl Gate {
    pub(super) fn new(port: u16, token: String) -> Self {
        Self { port, token }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Ports share their cookies, so the port is part of the name.
    fn cookie_name(&self) -> String {
        format!("mngr_view_{}", self.port)
    }

    fn is_ours(&self, authority: &str) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|name| authority == format!("{name}:{}", self.port))
    }

    /// What is wrong with a request, if anything.
    fn objection(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<StatusCode> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Some(StatusCode::METHOD_NOT_ALLOWED);
        }
        if !text(header::HOST).is_some_and(|host| self.is_ours(host)) {
            return Some(StatusCode::MISDIRECTED_REQUEST);
        }
        let is_foreign_origin = headers.contains_key(header::ORIGIN)
            && !text(header::ORIGIN)
                .and_then(|origin| origin.strip_prefix("http://"))
                .is_some_and(|host| self.is_ours(host));
        // A link to the page itself may stand anywhere.
        let is_visit = path == "/" && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        let is_foreign_site =
            headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
        if is_foreign_origin || is_foreign_site && !is_visit {
            return Some(StatusCode::FORBIDDEN);
        }
        None
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let wanted = format!("{}={}", self.cookie_name(), self.token);
        let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|value| value.split(';')).any(|cookie| cookie.trim() == wanted)
    }

    fn has_token(&self, query: Option<&str>) -> bool {
        let wanted = format!("token={}", self.token);
        query.is_some_and(|query| query.split('&').any(|pair| pair == wanted))
    }
}

/// Stands before every route.
pub(super) async fn keep(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let gate = &site.gate;
    let (path, query) = (request.uri().path(), request.uri().query());
    let mut response = if let Some(status) = gate.objection(request.method(), path, request.headers()) {
        status.into_response()
    } else if path == "/" && gate.has_token(query) {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", gate.cookie_name(), gate.token);
        ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
    } else if gate.has_cookie(request.headers()) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "open the address that `mngr view` printed, with its token\n").into_response()
    };
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    let policy = format!("{}; frame-ancestors 'none'", policy(Delivery::Served));
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection(path: &str, headers: &[(&'static str, &str)]) -> Option<u16> {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        Gate::new(80, "t".into()).objection(&Method::GET, path, &headers).map(|status| status.as_u16())
    }

    #[test]
    fn another_name_for_this_machine_is_not_ours() {
        assert_eq!(objection("/", &[("host", "127.0.0.1:80")]), None);
        assert_eq!(objection("/", &[("host", "localhost:80")]), None);
        for host in ["evil.example:80", "127.0.0.1:81", "127.0.0.1:80.evil.example", ""] {
            assert_eq!(objection("/", &[("host", host)]), Some(421), "{host}");
        }
        assert_eq!(objection("/", &[]), Some(421));
    }

    #[test]
    fn other_pages_may_link_to_the_page_and_nothing_else() {
        let host = ("host", "127.0.0.1:80");
        let foreign = ("sec-fetch-site", "cross-site");
        assert_eq!(objection("/", &[host, foreign, ("sec-fetch-mode", "navigate")]), None);
        assert_eq!(objection("/data/runs.js", &[host, foreign, ("sec-fetch-mode", "no-cors")]), Some(403));
        assert_eq!(objection("/data/runs.js", &[host, foreign, ("sec-fetch-mode", "navigate")]), Some(403));
        assert_eq!(objection("/data/runs.js", &[host, ("sec-fetch-site", "same-site")]), Some(403));
        assert_eq!(objection("/data/runs.js", &[host, ("origin", "http://127.0.0.1:81")]), Some(403));
        assert_eq!(objection("/data/runs.js", &[host, ("origin", "null")]), Some(403));
        assert_eq!(objection("/data/runs.js", &[host, ("origin", "http://127.0.0.1:80")]), None);
    }
}
