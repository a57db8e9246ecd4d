package dev.ashlar.transport.metadata;

import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallClientConfig;
import java.time.Duration;
import java.util.List;

/**
 * How to reach the metadata peers in other processes.
 *
 * @param peers addresses of peers; one that answers suffices to find the others, including those
 *     added later
 * @param timeout limit of a call, elections included
 */
public record RemoteMetadataConfig(List<Endpoint> peers, CallClientConfig calls, Duration timeout) {
  public static final Duration TIMEOUT = Duration.ofSeconds(10);

  public RemoteMetadataConfig {
    peers = List.copyOf(peers);
    if (peers.isEmpty() || !timeout.isPositive()) {
      throw new IllegalArgumentException("needs peers and a positive time");
    }
  }
}
