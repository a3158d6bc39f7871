//! What the engine says of a sandbox to those who test it.

use std::collections::HashMap;

use bollard::Docker as Client;
use bollard::errors::Error as EngineAnswer;
use bollard::query_parameters::{ListContainersOptionsBuilder, ListVolumesOptionsBuilder};

use super::container::Settings;
use super::sweep::LABEL_PROCESS;
use crate::sandbox::Inspection;

/// The variables of the image, and what there is of this process's containers and volumes.
pub(super) async fn inspect(docker: &Client, settings: &Settings) -> Result<Inspection, EngineAnswer> {
    let variables = docker.inspect_image(&settings.image).await?.config.and_then(|config| config.env);
    let name = |entry: String| entry.split('=').next().unwrap_or_default().to_owned();
    let image_variables = variables.unwrap_or_default().into_iter().map(name).collect();

    let label = settings.labels.get(LABEL_PROCESS).map(|process| format!("{LABEL_PROCESS}={process}"));
    let ours = HashMap::from([("label", label.into_iter().collect::<Vec<_>>())]);
    let options = ListContainersOptionsBuilder::new().all(true).filters(&ours).build();
    let containers = docker.list_containers(Some(options)).await?;
    let options = ListVolumesOptionsBuilder::new().filters(&ours).build();
    let volumes = docker.list_volumes(Some(options)).await?.volumes.unwrap_or_default();
    let containers = containers.into_iter().map(|container| format!("container {}", container.id.unwrap_or_default()));
    let volumes = volumes.into_iter().map(|volume| format!("volume {}", volume.name));
    Ok(Inspection { image_variables, left: Some(containers.chain(volumes).collect()) })
}
