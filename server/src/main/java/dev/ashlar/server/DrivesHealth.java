package dev.ashlar.server;

import io.micronaut.core.async.publisher.Publishers;
import io.micronaut.health.HealthStatus;
import io.micronaut.management.health.indicator.HealthIndicator;
import io.micronaut.management.health.indicator.HealthResult;
import jakarta.inject.Singleton;
import java.util.Map;
import org.reactivestreams.Publisher;

/** Up while reads can be answered; the details tell whether writes can. */
@Singleton
final class DrivesHealth implements HealthIndicator {
  private final Node node;
  private final ServerOptions options;

  DrivesHealth(Node node, ServerOptions options) {
    this.node = node;
    this.options = options;
  }

  @Override
  public Publisher<HealthResult> getResult() {
    int open = node.drives().openCount();
    int writable = node.drives().writableCount();
    boolean readable = open >= options.profile().dataShards();
    Map<String, Object> details =
        Map.of(
            "drives",
            options.dataFolders().size(),
            "open",
            open,
            "writable",
            writable,
            "full",
            node.drives().fullCount(),
            "writes",
            writable >= options.profile().durableMinimum() ? "accepted" : "refused");
    return Publishers.just(
        HealthResult.builder("drives", readable ? HealthStatus.UP : HealthStatus.DOWN)
            .details(details)
            .build());
  }
}
