package dev.ashlar.server.admin;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import java.util.Map;

/** Health on the management port. */
@Controller("/health")
final class HealthController {
  private final RunningServer server;

  HealthController(RunningServer server) {
    this.server = server;
  }

  /** Also for load balancers: 503 when nothing can be read. */
  @Get(uris = {"/", "/readiness"})
  HttpResponse<RunningServer.HealthPage> health() {
    RunningServer.HealthPage health = server.health();
    boolean isUp = health.status() != Health.Status.DOWN;
    return HttpResponse.<RunningServer.HealthPage>status(
            isUp ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
        .body(health);
  }

  /** That the process answers; missing drives are no reason to restart it. */
  @Get("/liveness")
  Map<String, Health.Status> liveness() {
    return Map.of("status", Health.Status.UP);
  }
}
