package dev.ashlar.server.admin;

import dev.ashlar.server.config.Setting;
import java.util.List;

/** What this process is configured with, and where that comes from. Secrets are no part of it. */
public record ConfigPage(List<Setting> settings) {
  public ConfigPage {
    settings = List.copyOf(settings);
  }
}
