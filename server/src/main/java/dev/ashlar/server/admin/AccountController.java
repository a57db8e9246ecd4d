package dev.ashlar.server.admin;

import static dev.ashlar.server.admin.AdminAccess.error;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.server.account.Accounts;
import io.micronaut.core.annotation.Introspected;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import org.jspecify.annotations.Nullable;

/** Changes of accounts on the management port. */
@Controller("/admin")
@ExecuteOn(TaskExecutors.IO)
final class AccountController {
  private final RunningServer server;
  private final AdminAccess access;

  AccountController(RunningServer server, AdminAccess access) {
    this.server = server;
    this.access = access;
  }

  @Post("/account-create")
  HttpResponse<?> create(
      HttpRequest<?> request,
      @QueryValue String name,
      @QueryValue(defaultValue = "") String id,
      @QueryValue(defaultValue = "") String email) {
    return change(access.refusalOfChange(request), accounts -> accounts.create(id, name, email));
  }

  @Post("/account-delete")
  HttpResponse<?> delete(HttpRequest<?> request, @QueryValue String id) {
    return change(access.refusalOfChange(request), accounts -> accounts.delete(id));
  }

  @Post("/account-key-create")
  HttpResponse<?> createKey(HttpRequest<?> request, @QueryValue String id) {
    return change(access.refusalOfChange(request), accounts -> accounts.createKey(id));
  }

  @Post("/account-key-delete")
  HttpResponse<?> deleteKey(
      HttpRequest<?> request, @QueryValue String id, @QueryValue String accessKey) {
    return change(access.refusalOfChange(request), accounts -> accounts.deleteKey(id, accessKey));
  }

  /** A key of a user, with its secret in the body: queries are written to logs of proxies. */
  @Post("/user-key-put")
  HttpResponse<?> putUserKey(HttpRequest<?> request, @Body UserKey key) {
    AuditFilter.tell(request, "user", key.user());
    AuditFilter.tell(request, "accessKey", key.accessKey());
    AuditFilter.tell(request, "enabled", Boolean.toString(key.enabled()));
    return change(
        access.refusalOfSecret(request),
        accounts ->
            accounts.putUserKey(key.user(), key.accessKey(), key.secretKey(), key.enabled()));
  }

  /** What {@code user-key-put} is sent. */
  @Introspected
  record UserKey(String user, String accessKey, String secretKey, boolean enabled) {
    @Override
    public String toString() {
      return "UserKey[" + user + ", " + accessKey + "]";
    }
  }

  private interface Change {
    Object make(Accounts accounts) throws MetadataUnavailableException, Accounts.RefusedException;
  }

  private HttpResponse<?> change(@Nullable HttpResponse<?> refusal, Change change) {
    if (refusal != null) {
      return refusal;
    }
    Admin admin = server.admin();
    if (admin == null) {
      return error(
          HttpStatus.NOT_FOUND, "this process is not a gateway: use the management port of one");
    }
    try {
      return HttpResponse.ok(change.make(admin.accounts()));
    } catch (Accounts.RefusedException e) {
      return error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
    } catch (MetadataUnavailableException e) {
      return error(HttpStatus.SERVICE_UNAVAILABLE, "metadata: " + e.getMessage());
    }
  }
}
