//! Answers as bytes.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::page;

/// The status of an answer (RFC 9110, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    Unauthorized,
    Forbidden,
    /// To tell something needs a token as a bearer's.
    NeedsBearer,
    NotFound,
    MethodNotAllowed,
    /// The path is one to tell by.
    NotToBeRead,
    ContentTooLarge,
    RequestTooLarge,
    Unavailable,
    VersionNotSupported,
    /// The sizes of too many servers were told.
    InsufficientStorage,
}

/// The content of an answer, which several answers may share.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) media_type: &'static str,
    pub(super) bytes: Arc<[u8]>,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::Forbidden | Self::NeedsBearer => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed | Self::NotToBeRead => "405 Method Not Allowed",
            Self::ContentTooLarge => "413 Content Too Large",
            Self::RequestTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
            Self::InsufficientStorage => "507 Insufficient Storage",
        }
    }

    /// The field that this status asks for.
    fn field(self) -> &'static str {
        match self {
            // A browser asks its user for the token, as the password of any name.
            Self::Unauthorized => "WWW-Authenticate: Basic realm=\"controller\"\r\n",
            Self::MethodNotAllowed => "Allow: GET, HEAD\r\n",
            Self::NotToBeRead => "Allow: POST\r\n",
            _ => "",
        }
    }

    /// The reason, for people.
    pub(super) fn content(self) -> Content {
        let reason = match self {
            Self::Ok => "",
            Self::BadRequest => "This is no request of HTTP/1.1, or not what the path takes.",
            Self::Unauthorized => {
                "Give the token: as Authorization: Bearer TOKEN, or as the password of any name."
            }
            Self::Forbidden => {
                "On the loopback the API is served under the names localhost, 127.0.0.1 and [::1] \
                 alone."
            }
            Self::NeedsBearer => {
                "Give the controller a token (--http-token), and send it as Authorization: Bearer \
                 TOKEN."
            }
            Self::NotFound => "There is no such document; /api/v1 names those that there are.",
            Self::MethodNotAllowed => "This is to be read: by GET and HEAD.",
            Self::NotToBeRead => "Sizes are told, by POST; they are not read.",
            Self::ContentTooLarge => "The request has more content than the path takes.",
            Self::RequestTooLarge => "The request is too long.",
            Self::Unavailable => "The controller is busy. Try again.",
            Self::VersionNotSupported => "This is a server of HTTP/1.1.",
            Self::InsufficientStorage => "The sizes of 1024 servers are known; no more are taken.",
        };
        Content {
            media_type: "text/plain; charset=utf-8",
            bytes: format!("{reason}\n").into_bytes().into(),
        }
    }
}

/// The fields that each answer has.
#[derive(Debug)]
pub(super) struct CommonFields(String);

impl CommonFields {
    /// Browsers are told to load nothing from elsewhere, and to use the one style sheet that the page
    /// has; to run nothing or, where the page `has_charts`, what is served here as a script alone; to
    /// show it in no frame; to keep no copy.
    pub(super) fn new(has_charts: bool) -> Self {
        let style = BASE64_STANDARD.encode(Sha256::digest(page::STYLE));
        let charts = match has_charts {
            true => " 'self'; script-src 'self'; connect-src 'self'",
            false => "",
        };
        Self(format!(
            "Content-Security-Policy: default-src 'none'; style-src 'sha256-{style}'{charts}; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
             X-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Referrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\n\
             Connection: close\r\n"
        ))
    }
}

/// The head of an answer.
pub(super) fn head(status: Status, content: &Content, common: &CommonFields) -> Vec<u8> {
    format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}\r\n",
        status.line(),
        content.media_type,
        content.bytes.len(),
        status.field(),
        common.0,
    )
    .into_bytes()
}
