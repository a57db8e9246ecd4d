package dev.ashlar.server.admin;

import static dev.ashlar.server.admin.AdminAccess.error;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.http.server.types.files.StreamedFile;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The pages and commands of the management port, besides the metrics. */
@Controller
final class ManagementController {
  private final RunningServer server;
  private final AdminAccess access;
  private final ConfigPage config;

  ManagementController(RunningServer server, AdminAccess access, ConfigPage config) {
    this.server = server;
    this.access = access;
    this.config = config;
  }

  /** Also for load balancers: 503 when nothing can be read. */
  @Get(uris = {"/health", "/health/readiness"})
  @ExecuteOn(TaskExecutors.BLOCKING)
  HttpResponse<RunningServer.HealthPage> health() {
    RunningServer.HealthPage health = server.health();
    boolean isUp = health.status() != Health.Status.DOWN;
    return HttpResponse.<RunningServer.HealthPage>status(
            isUp ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE)
        .body(health);
  }

  /**
   * That the process answers; missing drives are no reason to restart it. On the event loop, so
   * that no page that waits delays it.
   */
  @Get("/health/liveness")
  Map<String, Health.Status> liveness() {
    return Map.of("status", Health.Status.UP);
  }

  /** How far the scrub of each drive is. */
  @Get("/scrub")
  @ExecuteOn(TaskExecutors.BLOCKING)
  ScrubPage scrub() {
    return server.scrub();
  }

  /** Has all drives begin a scrub at once. */
  @Post("/scrub")
  @ExecuteOn(TaskExecutors.BLOCKING)
  HttpResponse<?> startScrub(HttpRequest<?> request) {
    HttpResponse<?> refusal = access.refusalOfChange(request);
    if (refusal != null) {
      return refusal;
    }
    server.startScrub();
    return HttpResponse.ok(server.scrub());
  }

  /** Of every process, not only of gateways. */
  @Get("/admin/config")
  HttpResponse<?> config(HttpRequest<?> request) {
    HttpResponse<?> refusal = access.refusal(request);
    return refusal == null ? HttpResponse.ok(config.settings()) : refusal;
  }

  /** Of every process, too. */
  @Get("/admin/diagnosis")
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<?> diagnosis(HttpRequest<?> request) {
    HttpResponse<?> refusal = access.refusal(request);
    return refusal == null ? HttpResponse.ok(Diagnosis.ofThisProcess()) : refusal;
  }

  /** It has secrets: no page of another site may make a browser ask for it. */
  @Get("/admin/metadata-backup")
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<?> backup(HttpRequest<?> request) {
    HttpResponse<?> refusal = access.refusalOfChange(request);
    if (refusal != null) {
      return refusal;
    }
    try {
      return HttpResponse.ok(
          new StreamedFile(server.backUpMetadata(), MediaType.APPLICATION_OCTET_STREAM_TYPE));
    } catch (Admin.RefusedException e) {
      return error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
    } catch (MetadataUnavailableException | IOException e) {
      return error(HttpStatus.SERVICE_UNAVAILABLE, "metadata: " + e.getMessage());
    }
  }

  @Get("/admin/{name}")
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<?> view(
      HttpRequest<?> request,
      @PathVariable String name,
      @QueryValue(defaultValue = "") String target,
      @QueryValue(defaultValue = "") String by) {
    HttpResponse<?> refusal = access.refusal(request);
    return refusal == null ? answer(admin -> admin.view(name, target, by)) : refusal;
  }

  @Post("/admin/{name}")
  @ExecuteOn(TaskExecutors.IO)
  HttpResponse<?> change(
      HttpRequest<?> request,
      @PathVariable String name,
      @QueryValue(defaultValue = "") String target,
      @QueryValue(defaultValue = "") String by) {
    HttpResponse<?> refusal = access.refusalOfChange(request);
    return refusal == null ? answer(admin -> admin.change(name, target, by)) : refusal;
  }

  private interface Answer {
    @Nullable Object make(Admin admin) throws MetadataUnavailableException, Admin.RefusedException;
  }

  private HttpResponse<?> answer(Answer answer) {
    Admin admin = server.admin();
    if (admin == null) {
      return error(
          HttpStatus.NOT_FOUND, "this process is not a gateway: use the management port of one");
    }
    try {
      Object made = answer.make(admin);
      return made == null
          ? error(HttpStatus.NOT_FOUND, "no such page or command")
          : HttpResponse.ok(made);
    } catch (Admin.RefusedException e) {
      return error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
    } catch (MetadataUnavailableException e) {
      return error(HttpStatus.SERVICE_UNAVAILABLE, "metadata: " + e.getMessage());
    }
  }
}
