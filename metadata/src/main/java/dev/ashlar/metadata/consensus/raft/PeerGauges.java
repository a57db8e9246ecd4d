package dev.ashlar.metadata.consensus.raft;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Metrics of one metadata peer. */
final class PeerGauges implements AutoCloseable {
  private final Peer peer;
  private final MeterRegistry registry;
  private final List<Meter> meters = new ArrayList<>();

  PeerGauges(Peer peer, MeterRegistry registry) {
    this.peer = peer;
    this.registry = registry;
    gauge("leads", each -> each.isLeader() ? 1 : 0, "1 if this metadata peer is the leader");
    gauge("term", Peer::term, "Raft term: grows with every election");
    gauge("unapplied.entries", Peer::unapplied, "Committed log entries not applied yet");
  }

  private void gauge(String name, ToDoubleFunction<Peer> value, String description) {
    meters.add(
        Gauge.builder("ashlar.metadata." + name, peer, value)
            .description(description)
            .tag("peer", peer.id().toString())
            .register(registry));
  }

  @Override
  public void close() {
    meters.forEach(registry::remove);
  }
}
