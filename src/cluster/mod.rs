//! Replicas: several nodes that serve one chain, over NATS JetStream.

mod config;

pub use config::{ClusterConfig, ClusterRole};
