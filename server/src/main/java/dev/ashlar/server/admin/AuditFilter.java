package dev.ashlar.server.admin;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.error.Denial;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ResponseFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;

/**
 * Tells the audit log of each command of the management port, of copies of what it knows, and of
 * refused requests.
 */
@ServerFilter({"/admin/**", "/scrub"})
final class AuditFilter {
  private static final String EVENT = "ashlar.audit";

  /** Parameters of commands. Secrets are not among them. */
  private static final List<String> PARAMETERS =
      List.of("target", "by", "id", "name", "email", "accessKey");

  /** What is only read, and yet takes away more than the state of the store. */
  private static final Set<String> COPIES = Set.of("metadata-backup", "diagnosis");

  private final RunningServer server;
  private final AdminAccess access;

  AuditFilter(RunningServer server, AdminAccess access) {
    this.server = server;
    this.access = access;
  }

  @RequestFilter
  void begin(HttpRequest<?> request) {
    if (server.audit() != null) {
      request.setAttribute(EVENT, event(request));
    }
  }

  private static AuditEvent event(HttpRequest<?> request) {
    InetAddress remote = request.getRemoteAddress().getAddress();
    AuditEvent event =
        new AuditEvent(
            new AuditEvent.Origin(
                "management",
                null,
                remote == null ? "" : remote.getHostAddress(),
                null,
                request.getHeaders().get("User-Agent")),
            System.currentTimeMillis(),
            System.nanoTime());
    event.operation("admin:" + command(request));
    for (String name : PARAMETERS) {
      String value = request.getParameters().get(name);
      if (value != null && !value.isEmpty()) {
        event.parameter(name, value);
      }
    }
    return event;
  }

  private static String command(HttpRequest<?> request) {
    String path = request.getPath();
    return path.startsWith("/admin/") ? path.substring("/admin/".length()) : "scrub";
  }

  private static boolean onlyShows(HttpRequest<?> request) {
    return request.getMethod() == HttpMethod.GET && !COPIES.contains(command(request));
  }

  @ResponseFilter
  @ExecuteOn(TaskExecutors.BLOCKING)
  void end(HttpRequest<?> request, HttpResponse<?> response) {
    AuditLog log = server.audit();
    AuditEvent event = request.getAttribute(EVENT, AuditEvent.class).orElse(null);
    HttpStatus status = response.status();
    boolean isRefused =
        status == HttpStatus.UNAUTHORIZED
            || status == HttpStatus.FORBIDDEN
            || status == HttpStatus.TOO_MANY_REQUESTS;
    if (log == null || event == null || (onlyShows(request) && !isRefused)) {
      return;
    }
    event.status(status.getCode());
    event.sender(null, "operator", isRefused ? null : access.operatorKey());
    if (isRefused) {
      event.failed(
          status.name(),
          status == HttpStatus.TOO_MANY_REQUESTS ? Denial.ATTEMPTS : Denial.AUTHENTICATION);
    } else {
      event.allowed();
    }
    log.write(event);
  }
}
