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
 * Tells the audit log of the requests of the management port, besides pages that only show
 * something, and of all that are refused.
 */
@ServerFilter({"/admin/**", "/scrub/**"})
final class AuditFilter {
  private static final String EVENT = "ashlar.audit";

  /** Parameters of commands. Secrets are not among them. */
  private static final List<String> PARAMETERS =
      List.of("target", "by", "id", "name", "email", "accessKey");

  /** Pages that only show something. Copies of metadata and diagnoses are none of them. */
  private static final Set<String> SHOWN =
      Set.of(
          "scrub",
          "config",
          "locate",
          "locate-verified",
          "metadata",
          "accounts",
          "status",
          "nodes",
          "drives",
          "pgs",
          "repair",
          "rebalance",
          "profiles",
          "profile-moves",
          "lifecycle",
          "encryption",
          "events",
          "buckets",
          "account-usage");

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
    event.operation("admin:" + command(request.getPath()));
    for (String name : PARAMETERS) {
      String value = request.getParameters().get(name);
      if (value != null && !value.isEmpty()) {
        event.parameter(name, value);
      }
    }
    return event;
  }

  /** Adds a parameter that is not in the query, and no secret, to what the audit log is told. */
  static void tell(HttpRequest<?> request, String name, String value) {
    request.getAttribute(EVENT, AuditEvent.class).ifPresent(event -> event.parameter(name, value));
  }

  /** A slash at the end makes no other page. */
  static String command(String path) {
    int end = path.length();
    while (end > 0 && path.charAt(end - 1) == '/') {
      end--;
    }
    String page = path.substring(0, end);
    return page.startsWith("/admin/") ? page.substring("/admin/".length()) : page.substring(1);
  }

  static boolean onlyShows(HttpRequest<?> request) {
    return request.getMethod() == HttpMethod.GET && SHOWN.contains(command(request.getPath()));
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
    if (isRefused) {
      event.sender(null, "anonymous", null);
      event.failed(
          status.name(),
          status == HttpStatus.TOO_MANY_REQUESTS ? Denial.ATTEMPTS : Denial.AUTHENTICATION);
    } else {
      event.sender(null, "operator", access.operatorKey());
      event.allowed();
    }
    log.write(event);
  }
}
