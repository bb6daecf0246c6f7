//! Tests of the NATS servers below a cluster.

use async_nats::jetstream::{self, stream};

use crate::cluster::nats::NatsServers;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_servers_elect_a_stream_leader_and_a_killed_server_rejoins() {
    let Some(mut nats) = NatsServers::start(3).await else {
        return;
    };

    let context = jetstream::new(nats.client().await);
    let config = stream::Config {
        name: "LOG".to_owned(),
        subjects: vec!["log".to_owned()],
        num_replicas: 3,
        ..stream::Config::default()
    };
    context.create_stream(config).await.unwrap();

    let leader = nats.await_stream_leader("LOG").await;
    context
        .publish("log", "kept".into())
        .await
        .unwrap()
        .await
        .unwrap();

    nats.kill(leader);
    let next = nats.await_stream_leader("LOG").await;
    assert_ne!(next, leader);

    let pid = nats.pid(leader);
    nats.start_again(leader).await;
    assert_ne!(nats.pid(leader), pid);
    nats.ready().await;

    let mut stream = jetstream::new(nats.client().await)
        .get_stream("LOG")
        .await
        .unwrap();
    assert_eq!(stream.info().await.unwrap().state.messages, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_server_is_stopped_and_continued() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };
    let context = jetstream::new(nats.client().await);
    context
        .create_stream(stream::Config {
            name: "LOG".to_owned(),
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(nats.stream_leader("LOG").await, Some(0));
    assert_eq!(nats.stream_leader("OTHER").await, None);
    nats.stop(0);
    assert_eq!(nats.stream_leader("LOG").await, None);
    nats.cont(0);
    assert_eq!(nats.await_stream_leader("LOG").await, 0);
    // SIGKILL ends a stopped process, too.
    nats.stop(0);
    nats.kill(0);
    nats.start_again(0).await;
    nats.ready().await;
    assert_eq!(nats.urls(), [format!("nats://{}", nats.address(0))]);
    assert_eq!(nats.stream_leader("LOG").await, Some(0));
}
