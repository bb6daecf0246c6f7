//! Objects larger than a message of NATS, which are fetched part by part: requests, whose message
//! says where the request is, and entries of the log.

use std::{ops::Range, str::FromStr, time::Duration};

use async_nats::{Client, HeaderMap, Message, Request, RequestErrorKind, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use tetrad_stdx::causes::with_causes;
use tokio::time::timeout;

use super::connection::INBOX;

/// Size of the largest request, in bytes.
pub(super) const LARGEST: usize = 64 << 20;
/// Room for the headers of a message, in bytes.
pub(super) const HEADER_ROOM: usize = 4 << 10;
/// Size of a part in bytes, if the server's limit allows it.
const PART_BYTES: usize = 512 << 10;
/// The header of an announcement.
const HEADER: &str = "Tetrad-Request";
/// Time in which a part must be answered. It is asked for again after that.
const PART_TIMEOUT: Duration = Duration::from_secs(3);
/// Times that a part is asked for.
const ATTEMPTS: usize = 3;
/// Time in which a request must be fetched.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// The place of a request or an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    /// The subject of its parts. A message on it is the offset of the part that is wanted.
    pub(super) subject: String,
    /// Its size in bytes, for a request at most [`LARGEST`].
    pub(super) size: usize,
}

impl FromStr for Announcement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (subject, size) = text.split_once(' ').ok_or("incomplete")?;
        let size = size.parse().map_err(|_| "invalid size")?;
        // Anywhere else, this node would publish for any client that may send it requests.
        if !subject.starts_with(INBOX) {
            return Err("the subject is no inbox".to_owned());
        }
        if size > LARGEST {
            return Err(format!("{size} bytes, where the most are {LARGEST}"));
        }
        Ok(Self {
            subject: subject.to_owned(),
            size,
        })
    }
}

impl Announcement {
    /// Reads the announcement of a message. Returns `None` if the message is a request itself.
    pub(super) fn of(message: &Message) -> Option<Result<Self, String>> {
        let text = message.headers.as_ref()?.get(HEADER)?;
        Some(
            text.as_str()
                .parse()
                .map_err(|what: String| format!("{HEADER}: {what}")),
        )
    }

    /// Fetches it.
    pub(super) async fn fetch(&self, client: &Client) -> Result<Vec<u8>, String> {
        let parts = async {
            let mut bytes = Vec::new();
            while bytes.len() < self.size {
                let part = self.part(client, bytes.len()).await?;
                if part.is_empty() || part.len() > self.size - bytes.len() {
                    return Err(format!(
                        "a part of {} bytes after {} of {}",
                        part.len(),
                        bytes.len(),
                        self.size
                    ));
                }
                bytes.extend_from_slice(&part);
            }
            Ok(bytes)
        };
        timeout(FETCH_TIMEOUT, parts)
            .await
            .unwrap_or_else(|_| Err("it takes too long to fetch".to_owned()))
    }

    async fn part(&self, client: &Client, offset: usize) -> Result<Bytes, String> {
        let mut failure = String::new();
        for _ in 0..ATTEMPTS {
            let wanted = Request::new()
                .payload(offset.to_string().into())
                .timeout(Some(PART_TIMEOUT));
            match client.send_request(self.subject.clone(), wanted).await {
                Ok(answer) => return Ok(answer.payload),
                // The request or its answer may have been lost.
                Err(error) if error.kind() == RequestErrorKind::TimedOut => {
                    failure = with_causes(&error)
                }
                Err(error) => return Err(with_causes(&error)),
            }
        }
        Err(failure)
    }
}

/// A request whose parts can be fetched.
pub(super) struct Offer {
    client: Client,
    bytes: Bytes,
    announcement: Announcement,
    wanted: Subscriber,
    /// The end of the last part that was asked for.
    served: usize,
}

impl Offer {
    pub(super) async fn begin(client: &Client, bytes: Bytes) -> Result<Self, String> {
        if bytes.len() > LARGEST {
            return Err(format!(
                "a request of {} bytes, where the most are {LARGEST}",
                bytes.len()
            ));
        }

        let announcement = Announcement {
            subject: client.new_inbox(),
            size: bytes.len(),
        };

        // Before it is announced, or a request for its first part would find no receiver.
        let wanted = client
            .subscribe(announcement.subject.clone())
            .await
            .map_err(|error| with_causes(&error))?;

        Ok(Self {
            client: client.clone(),
            bytes,
            announcement,
            wanted,
            served: 0,
        })
    }

    /// Returns the headers of a message that announces the request.
    pub(super) fn headers(&self) -> HeaderMap {
        let Announcement { subject, size } = &self.announcement;
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, format!("{subject} {size}"));
        headers
    }

    /// Answers the next message that asks for a part. Returns whether it is the first request
    /// for that part, or `None` once there will be no further one.
    pub(super) async fn serve(&mut self) -> Option<bool> {
        let message = self.wanted.next().await?;
        let part = part(&self.client, self.bytes.len(), &message.payload);
        let reply = message.reply.filter(|reply| reply.starts_with(INBOX));
        let (Some(part), Some(reply)) = (part, reply) else {
            return Some(false);
        };

        let is_new = part.end > self.served;
        self.served = self.served.max(part.end);
        // Without an answer the leader asks again.
        let _ = self.client.publish(reply, self.bytes.slice(part)).await;
        Some(is_new)
    }
}

/// Returns the size of the largest message that the servers take, in bytes.
pub(super) fn message_bytes(client: &Client) -> usize {
    client.server_info().max_payload.saturating_sub(HEADER_ROOM)
}

/// Returns the part of `size` bytes that a message asks for, if it is one.
pub(super) fn part(client: &Client, size: usize, message: &[u8]) -> Option<Range<usize>> {
    let offset = str::from_utf8(message)
        .ok()?
        .parse::<usize>()
        .ok()
        .filter(|offset| *offset < size)?;

    let part_bytes = message_bytes(client).clamp(1, PART_BYTES);
    Some(offset..size.min(offset + part_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_names_an_inbox_and_a_size_within_the_limit() {
        let announcement = Announcement {
            subject: "_INBOX.a.b".to_owned(),
            size: LARGEST,
        };
        assert_eq!("_INBOX.a.b 67108864".parse(), Ok(announcement));

        for (text, error) in [
            ("", "incomplete"),
            ("_INBOX.a", "incomplete"),
            ("_INBOX.a -1", "invalid size"),
            ("tetrad.test.log 5", "no inbox"),
            ("_INBOX.a 67108865", "the most are 67108864"),
        ] {
            let refused = text.parse::<Announcement>().unwrap_err();
            assert!(refused.contains(error), "{text}: {refused}");
        }
    }
}
