package dev.ashlar.server.admin;

import static dev.ashlar.server.admin.AdminAccess.error;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import org.jspecify.annotations.Nullable;

/** The store as JSON on the management port, and what is done with its drives. */
@Controller("/admin")
@ExecuteOn(TaskExecutors.IO)
final class AdminController {
  private final RunningServer server;
  private final AdminAccess access;

  AdminController(RunningServer server, AdminAccess access) {
    this.server = server;
    this.access = access;
  }

  private interface Answer {
    @Nullable Object make(Admin admin) throws MetadataUnavailableException, Admin.RefusedException;
  }

  @Get("/{name}")
  HttpResponse<?> view(HttpRequest<?> request, @PathVariable String name) {
    HttpResponse<?> refusal = access.refusal(request);
    return refusal == null ? answer(admin -> admin.view(name)) : refusal;
  }

  @Post("/{name}")
  HttpResponse<?> act(
      HttpRequest<?> request,
      @PathVariable String name,
      @QueryValue(defaultValue = "") String target,
      @QueryValue(defaultValue = "") String by) {
    HttpResponse<?> refusal = access.refusalOfChange(request);
    return refusal == null ? answer(admin -> admin.change(name, target, by)) : refusal;
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
