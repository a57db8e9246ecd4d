package dev.ashlar.server.admin;

import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;

/** What the drives of this process do to look after what they hold, on the management port. */
@Controller("/scrub")
final class ScrubController {
  private final RunningServer server;
  private final AdminAccess access;

  ScrubController(RunningServer server, AdminAccess access) {
    this.server = server;
    this.access = access;
  }

  /** How far each drive is. */
  @Get
  ScrubPage progress() {
    return server.scrub();
  }

  /** Has all drives begin at once. */
  @Post
  HttpResponse<?> start(HttpRequest<?> request) {
    HttpResponse<?> refusal = access.refusalOfChange(request);
    if (refusal != null) {
      return refusal;
    }
    server.startScrub();
    return HttpResponse.ok(server.scrub());
  }
}
