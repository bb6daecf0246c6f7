//! The lower limit: a server that writes a frame of the same size to each of its connections once a
//! second, and does nothing else.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Size of a message about twelve prices, in bytes.
const MESSAGE: usize = 2_230;

/// Serves at a port of its own, which it writes to the standard output, until the process is
/// killed.
pub(crate) fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("an address"));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let writers: Vec<_> = (0..threads)
        .map(|_| {
            let (sender, accepted) = mpsc::channel();
            thread::spawn(move || write(&accepted));
            sender
        })
        .collect();
    for (stream, writer) in listener.incoming().zip(writers.iter().cycle()) {
        writer
            .send(upgraded(stream.expect("a connection")))
            .expect("the writer runs");
    }
}

/// Answers the request for a WebSocket upgrade, and sends the two messages for which a listener
/// waits.
fn upgraded(mut stream: TcpStream) -> TcpStream {
    stream.set_nodelay(true).expect("a connection");
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut some = [0; 512];
        let count = stream.read(&mut some).expect("a request");
        assert!(count > 0, "the connection was closed");
        request.extend_from_slice(&some[..count]);
    }
    let mut answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n".to_vec();
    answer.extend([frame(0), frame(0)].concat());
    stream.write_all(&answer).expect("the answer is sent");
    stream
}

/// Sends a message to all accepted connections every second.
fn write(accepted: &Receiver<TcpStream>) {
    let mut streams = Vec::new();
    loop {
        streams.extend(accepted.try_iter());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time after 1970");
        let message = frame(now.as_secs() * 1_000);
        // A connection that fails is closed.
        streams.retain_mut(|stream: &mut TcpStream| stream.write_all(&message).is_ok());
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("a time after 1970");
        thread::sleep(Duration::from_secs(now.as_secs() + 1) - now);
    }
}

/// A text frame of [`MESSAGE`] bytes that ends with a timestamp like a price message.
fn frame(timestamp: u64) -> Vec<u8> {
    let mut frame = vec![0x81, 126];
    frame.extend_from_slice(&(MESSAGE as u16).to_be_bytes());
    let end = format!(",\"timestamp\":{timestamp}}}");
    frame.resize(4 + MESSAGE - end.len(), b' ');
    frame.extend_from_slice(end.as_bytes());
    frame
}
