//! `tetrad probe`: whether a node is ready, for containers that have no other program to ask with.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    time::Duration,
};

/// How long the node may take, for each step.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of the answer that matter: its first line.
const STATUS_LINE: u64 = 64;

/// Asks the node at `listen` whether it is ready.
pub(super) fn run(listen: SocketAddr, out: &mut dyn Write) -> io::Result<()> {
    let mut address = listen;
    // Who listens everywhere is to be found at home.
    if address.ip().is_unspecified() {
        let home: IpAddr = if address.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        address.set_ip(home);
    }
    let failed = |what: String| io::Error::other(format!("http://{address}/ready: {what}"));
    let ask = || -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write!(stream, "GET /ready HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut head = Vec::new();
        stream.take(STATUS_LINE).read_to_end(&mut head)?;
        Ok(head)
    };
    let head = ask().map_err(|error| failed(error.to_string()))?;
    let line = String::from_utf8_lossy(&head);
    let status = line.split_whitespace().nth(1).unwrap_or("no HTTP");
    if status != "200" {
        return Err(failed(format!("not ready ({status})")));
    }
    writeln!(out, "ready")
}
