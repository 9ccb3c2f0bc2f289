/** A Deployment with its Service and PodDisruptionBudget. */

import { environment, type Sized, sumText } from "./numbers.ts";

export function kubernetes(sized: Sized): string {
  const { name, image, port } = sized;
  // The startup probe asks every 2 s and allows three times the measured start.
  const startFailures = Math.max(5, Math.ceil((sized.startMs * 3) / 2000));
  const env = environment(sized).map(([key, value]) => `            - { name: ${key}, value: "${value}" }`);
  return `# ${sumText(sized)}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: 2
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      terminationGracePeriodSeconds: ${sized.gracePeriodMs / 1000}
      containers:
        - name: ${name}
          image: ${image}
          ports:
            - { name: http, containerPort: ${port} }
          env:
${env.join("\n")}
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            failureThreshold: ${startFailures}
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 2
            failureThreshold: 1
          livenessProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 10
            failureThreshold: 3
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: { app: ${name} }
  ports:
    - { name: http, port: 80, targetPort: http }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: { app: ${name} }
`;
}
