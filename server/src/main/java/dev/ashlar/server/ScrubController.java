package dev.ashlar.server;

import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;

/** What the drives of this process do to look after what they hold, on the management port. */
@Controller("/scrub")
final class ScrubController {
  private final ServerForm server;

  ScrubController(ServerForm server) {
    this.server = server;
  }

  /** How far each drive is. */
  @Get
  ScrubPage progress() {
    return server.scrub();
  }

  /** Has all drives begin at once. */
  @Post
  ScrubPage start() {
    server.startScrub();
    return server.scrub();
  }
}
