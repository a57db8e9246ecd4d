package dev.ashlar.transport.metadata;

import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallClientConfig;
import java.time.Duration;
import java.util.List;

/**
 * A metadata group in other processes.
 *
 * @param peers where peers are reached; while one of them answers, the others are found, also those
 *     that came later
 * @param timeout how long a call may wait for its answer, elections included
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
