package dev.ashlar.server;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.util.Map;

/** Health on the management port. */
@Controller("/health")
final class HealthController {
  private final Node node;
  private final ServerOptions options;

  HealthController(Node node, ServerOptions options) {
    this.node = node;
    this.options = options;
  }

  /** Also for load balancers: 503 when nothing can be read. */
  @Get(uris = {"/", "/readiness"})
  HttpResponse<Health> health() {
    Health.Drives drives = node.drives().health(options.dataFolders());
    Health.Metadata metadata = Health.Metadata.of(node.metadataFolders());
    Health health = Health.of(options.profile(), drives, metadata);
    boolean isUp = health.status() != Health.Status.DOWN;
    return HttpResponse.<Health>status(isUp ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
        .body(health);
  }

  /** That the process answers; missing drives are no reason to restart it. */
  @Get("/liveness")
  Map<String, Health.Status> liveness() {
    return Map.of("status", Health.Status.UP);
  }
}
