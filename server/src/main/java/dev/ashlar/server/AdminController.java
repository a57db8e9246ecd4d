package dev.ashlar.server;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.QueryValue;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The store as JSON on the management port, and what is done with its drives. Where that port is
 * not bound to a loopback address, only for who has the root credentials.
 */
@Controller("/admin")
@ExecuteOn(TaskExecutors.IO)
final class AdminController {
  /** Pages of other sites cannot make a browser send it. */
  static final String HEADER = "X-Ashlar-Admin";

  private final ServerForm server;
  private final boolean isOpen;

  AdminController(ServerForm server, ServerOptions options) throws UnknownHostException {
    this.server = server;
    this.isOpen = InetAddress.getByName(options.managementListen().host()).isLoopbackAddress();
  }

  private interface Answer {
    @Nullable Object make(Admin admin) throws MetadataUnavailableException, Admin.RefusedException;
  }

  @Get("/{name}")
  HttpResponse<?> view(HttpRequest<?> request, @PathVariable String name) {
    return answer(request, admin -> admin.view(name));
  }

  @Post("/{name}")
  HttpResponse<?> act(
      HttpRequest<?> request,
      @PathVariable String name,
      @QueryValue(defaultValue = "") String target) {
    if (!request.getHeaders().contains(HEADER)) {
      return error(
          HttpStatus.FORBIDDEN, "requests that change something have the header " + HEADER);
    }
    return answer(request, admin -> admin.act(name, target));
  }

  private HttpResponse<?> answer(HttpRequest<?> request, Answer answer) {
    Admin admin = server.admin();
    if (admin == null) {
      return error(HttpStatus.NOT_FOUND, "this process is no gateway: ask one");
    }
    if (!isOpen && !isKnown(request, admin.root())) {
      return error(HttpStatus.UNAUTHORIZED, "the root credentials are needed")
          .header("WWW-Authenticate", "Basic realm=\"ashlar\"");
    }
    try {
      Object made = answer.make(admin);
      return made == null
          ? error(HttpStatus.NOT_FOUND, "there is nothing of this name")
          : HttpResponse.ok(made);
    } catch (Admin.RefusedException e) {
      return error(HttpStatus.CONFLICT, String.valueOf(e.getMessage()));
    } catch (MetadataUnavailableException e) {
      return error(HttpStatus.SERVICE_UNAVAILABLE, "metadata: " + e.getMessage());
    }
  }

  private static boolean isKnown(HttpRequest<?> request, RootCredential root) {
    String given = request.getHeaders().getAuthorization().orElse("");
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8),
        authorization(root).getBytes(StandardCharsets.UTF_8));
  }

  /** What who has the credentials sends. */
  static String authorization(RootCredential root) {
    String pair = root.accessKey() + ":" + root.secretKey();
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  private static MutableHttpResponse<Map<String, String>> error(HttpStatus status, String why) {
    return HttpResponse.<Map<String, String>>status(status).body(Map.of("error", why));
  }
}
