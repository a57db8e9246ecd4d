package dev.ashlar.gateway.access;

import java.util.List;

/**
 * What the sender of a request must be allowed to do.
 *
 * @param actions names of S3's permission model, such as s3:GetObject; all of them are needed
 */
public record Need(List<String> actions, Resource resource) {
  public static Need of(String action, Resource resource) {
    return new Need(List.of(action), resource);
  }
}
