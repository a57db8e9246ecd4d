package dev.ashlar.server.admin;

import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import io.micrometer.core.instrument.MeterRegistry;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpResponse;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may administrate on the management port: everybody where that is bound to loopback addresses
 * only, else who has the root credentials. Secrets of users are set by the latter only.
 */
@Singleton
public final class AdminAccess {
  /** Pages of other sites cannot make a browser send it. */
  public static final String HEADER = "X-Ashlar-Admin";

  /** An address of IPv4 or IPv6 or localhost, with or without a port. */
  private static final Pattern LOCAL_HOST =
      Pattern.compile(
          "(localhost|[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]+])(:[0-9]{1,5})?",
          Pattern.CASE_INSENSITIVE);

  private final Supplier<@Nullable RootCredential> known;
  private final boolean isOpen;
  private final FailedAttempts attempts;

  @Inject
  AdminAccess(RunningServer server, ServerOptions options, MeterRegistry meters) {
    this(
        server::root,
        options.service().managementListen().stream().allMatch(PortAddress::isLoopback),
        new FailedAttempts(options.service().authFailuresPerMinute(), System::nanoTime)
            .measuredBy(meters, "management"));
  }

  /**
   * @param known the root credentials; null where this process does not know them
   * @param isOpen whether nobody needs them
   * @param attempts limits those that fail
   */
  AdminAccess(Supplier<@Nullable RootCredential> known, boolean isOpen, FailedAttempts attempts) {
    this.known = known;
    this.isOpen = isOpen;
    this.attempts = attempts;
  }

  /** The access key that a request has proven which was not refused; null: it needs none. */
  @Nullable String operatorKey() {
    RootCredential root = known.get();
    return isOpen || root == null ? null : root.accessKey();
  }

  /**
   * What is answered where nobody needs credentials to a request for a host by a name that is not
   * this machine's for sure; null to others. The site of a name may give it the address of this
   * machine, and then a browser lets the site's pages ask here, and read the answers.
   */
  @Nullable MutableHttpResponse<?> refusalOfHost(HttpRequest<?> request) {
    if (!isOpen || request.getHeaders().getAll("Host").stream().allMatch(AdminAccess::isLocal)) {
      return null;
    }
    return error(
        HttpStatus.FORBIDDEN,
        "the management port is open to this machine: ask it by an address, such as 127.0.0.1, or"
            + " as localhost; other names in the header Host are refused");
  }

  private static boolean isLocal(String host) {
    return LOCAL_HOST.matcher(host).matches();
  }

  /** What is answered to a request that is not to be told anything; null where it is. */
  @Nullable MutableHttpResponse<?> refusal(HttpRequest<?> request) {
    return isOpen ? refusalOfHost(request) : refusalWithoutRoot(request);
  }

  /** Likewise, also where the port is open: whoever can choose secrets becomes any user. */
  @Nullable MutableHttpResponse<?> refusalOfSecret(HttpRequest<?> request) {
    return request.getHeaders().contains(HEADER) ? refusalWithoutRoot(request) : withoutHeader();
  }

  private @Nullable MutableHttpResponse<?> refusalWithoutRoot(HttpRequest<?> request) {
    RootCredential root = known.get();
    if (root == null) {
      return error(
          HttpStatus.FORBIDDEN,
          "this process does not know the root credentials: give it --credentials, or bind its"
              + " management port to loopback");
    }
    if (request.getHeaders().getAuthorization().isEmpty()) {
      return unauthorized();
    }
    FailedAttempts.Attempt attempt;
    try {
      attempt = attempts.begin(Client.of(request.getRemoteAddress(), false), root.accessKey());
    } catch (S3Exception tooMany) {
      return error(HttpStatus.TOO_MANY_REQUESTS, String.valueOf(tooMany.getMessage()));
    }
    if (isKnown(request, root)) {
      attempt.succeeded();
      return null;
    }
    attempt.failed();
    return unauthorized();
  }

  private static MutableHttpResponse<?> unauthorized() {
    return error(HttpStatus.UNAUTHORIZED, "the root credentials are needed")
        .header("WWW-Authenticate", "Basic realm=\"ashlar\"");
  }

  /** What is answered to a request that is not to change anything; null where it may. */
  @Nullable MutableHttpResponse<?> refusalOfChange(HttpRequest<?> request) {
    return request.getHeaders().contains(HEADER) ? refusal(request) : withoutHeader();
  }

  private static MutableHttpResponse<?> withoutHeader() {
    return error(HttpStatus.FORBIDDEN, "requests that change something need the header " + HEADER);
  }

  private static boolean isKnown(HttpRequest<?> request, RootCredential root) {
    String given = request.getHeaders().getAuthorization().orElse("");
    return MessageDigest.isEqual(
        given.getBytes(StandardCharsets.UTF_8),
        authorization(root).getBytes(StandardCharsets.UTF_8));
  }

  /** What who has the credentials sends. */
  public static String authorization(RootCredential root) {
    String pair = root.accessKey() + ":" + root.secretKey();
    return "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
  }

  static MutableHttpResponse<Map<String, String>> error(HttpStatus status, String why) {
    return HttpResponse.<Map<String, String>>status(status).body(Map.of("error", why));
  }
}
