package dev.ashlar.server.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ashlar.gateway.auth.FailedAttempts;
import dev.ashlar.server.config.RootCredential;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MutableHttpRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AdminAccessTest {
  private static final RootCredential ROOT =
      new RootCredential("access", "secret-secret", "a test", false);
  private static final AdminAccess ON_LOOPBACK =
      new AdminAccess(() -> null, true, FailedAttempts.unlimited());
  private static final AdminAccess ELSEWHERE =
      new AdminAccess(() -> ROOT, false, FailedAttempts.unlimited());
  private static final AdminAccess WITHOUT =
      new AdminAccess(() -> null, false, FailedAttempts.unlimited());

  private static MutableHttpRequest<?> post() {
    return HttpRequest.POST("/scrub", "");
  }

  private static MutableHttpRequest<?> change() {
    return post().header(AdminAccess.HEADER, "1");
  }

  private static MutableHttpRequest<?> withCredentials(String secret) {
    RootCredential given = new RootCredential("access", secret, "a test", false);
    return change().header("Authorization", AdminAccess.authorization(given));
  }

  private static void assertRefused(HttpStatus status, @Nullable HttpResponse<?> refusal) {
    assertNotNull(refusal);
    assertEquals(status, refusal.status());
  }

  @Test
  void aChangeNeedsTheHeaderThatOtherSitesCannotSend() {
    assertRefused(HttpStatus.FORBIDDEN, ON_LOOPBACK.refusalOfChange(post()));
    assertNull(ON_LOOPBACK.refusalOfChange(change()));
    assertNull(ON_LOOPBACK.refusal(post()));
  }

  @Test
  void awayFromLoopbackTheRootCredentialsAreNeeded() {
    assertRefused(HttpStatus.UNAUTHORIZED, ELSEWHERE.refusalOfChange(change()));
    assertRefused(HttpStatus.UNAUTHORIZED, ELSEWHERE.refusal(post()));
    assertRefused(
        HttpStatus.UNAUTHORIZED, ELSEWHERE.refusalOfChange(withCredentials("another-one")));
    assertNull(ELSEWHERE.refusalOfChange(withCredentials("secret-secret")));
    assertNull(ELSEWHERE.refusal(withCredentials("secret-secret")));
  }

  @Test
  void onLoopbackOtherNamesOfTheHostAreRefused() {
    for (String host :
        List.of("localhost", "LOCALHOST:9001", "127.0.0.1", "127.0.0.1:9001", "[::1]:9001")) {
      assertNull(ON_LOOPBACK.refusal(change().header("Host", host)), host);
      assertNull(ON_LOOPBACK.refusalOfChange(change().header("Host", host)), host);
    }
    for (String host :
        List.of("a.example", "a.example:9001", "127.0.0.1.example", "localhost.example", "")) {
      assertRefused(HttpStatus.FORBIDDEN, ON_LOOPBACK.refusal(change().header("Host", host)));
      assertRefused(
          HttpStatus.FORBIDDEN, ON_LOOPBACK.refusalOfChange(change().header("Host", host)));
      assertNull(
          ELSEWHERE.refusal(withCredentials("secret-secret").header("Host", host)),
          "browsers do not send the credentials to it");
    }
  }

  @Test
  void secretsOfUsersNeedTheRootCredentialsAlsoOnLoopback() {
    AdminAccess open = new AdminAccess(() -> ROOT, true, FailedAttempts.unlimited());
    assertNull(open.refusalOfChange(change()));
    assertRefused(HttpStatus.UNAUTHORIZED, open.refusalOfSecret(change()));
    assertRefused(HttpStatus.UNAUTHORIZED, open.refusalOfSecret(withCredentials("another-one")));
    assertRefused(HttpStatus.FORBIDDEN, open.refusalOfSecret(post()));
    assertRefused(
        HttpStatus.FORBIDDEN, ON_LOOPBACK.refusalOfSecret(withCredentials("secret-secret")));
    assertNull(open.refusalOfSecret(withCredentials("secret-secret")));
  }

  @Test
  void guessesOfTheCredentialsAreLimited() {
    AdminAccess limited = new AdminAccess(() -> ROOT, false, new FailedAttempts(3, () -> 0));
    for (int i = 0; i < 3; i++) {
      assertRefused(
          HttpStatus.UNAUTHORIZED, limited.refusal(withCredentials("guessed-secret-" + i)));
    }
    assertRefused(HttpStatus.TOO_MANY_REQUESTS, limited.refusal(withCredentials("secret-secret")));
    assertRefused(HttpStatus.UNAUTHORIZED, limited.refusal(change()));
    AdminAccess known = new AdminAccess(() -> ROOT, false, new FailedAttempts(3, () -> 0));
    assertNull(known.refusal(withCredentials("secret-secret")));
    for (int i = 0; i < 10; i++) {
      assertRefused(HttpStatus.UNAUTHORIZED, known.refusal(withCredentials("guessed-secret-" + i)));
    }
    assertNull(known.refusal(withCredentials("secret-secret")));
  }

  @Test
  void whoDoesNotKnowThemLetsNobodyIn() {
    assertRefused(HttpStatus.FORBIDDEN, WITHOUT.refusalOfChange(withCredentials("secret-secret")));
    assertRefused(HttpStatus.FORBIDDEN, WITHOUT.refusal(withCredentials("secret-secret")));
  }
}
